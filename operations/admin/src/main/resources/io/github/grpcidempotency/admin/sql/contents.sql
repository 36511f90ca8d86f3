SELECT c.response_bytes, c.status_bytes FROM "${schema}".operator_contents(:request) AS c
