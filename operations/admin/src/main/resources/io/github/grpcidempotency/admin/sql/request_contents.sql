SELECT r.request, r.result FROM "${schema}".operator_request_contents(:id, :actor, :reason) AS r
