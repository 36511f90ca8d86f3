SELECT a.* FROM ${schema}.operator_audit(CAST(:operation AS uuid), CAST(:before AS bigint), :limit) AS a
