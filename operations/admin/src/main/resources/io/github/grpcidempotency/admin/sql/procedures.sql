SELECT p.procedure, p.records, p.last_hour, p.last_day FROM "${schema}".operator_procedures() AS p
