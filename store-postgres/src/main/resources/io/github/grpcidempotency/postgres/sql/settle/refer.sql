SELECT ${schema}.refer_if_it_stands(:id, ${attempt}, '${column}', CAST(:resource_id AS uuid));
