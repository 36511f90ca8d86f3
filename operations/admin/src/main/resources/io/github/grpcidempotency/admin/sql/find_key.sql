SELECT o.* FROM ${schema}.operator_find(NULL, :key) AS o
