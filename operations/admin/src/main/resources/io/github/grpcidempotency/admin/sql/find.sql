SELECT o.* FROM ${schema}.operator_find(:id, NULL) AS o
