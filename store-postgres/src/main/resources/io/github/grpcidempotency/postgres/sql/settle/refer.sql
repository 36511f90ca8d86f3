SELECT "${schema}".refer_if_it_stands(:id, ${attempt}, '${column}', ${value});
