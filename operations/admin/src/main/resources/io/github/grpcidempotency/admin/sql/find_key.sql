SELECT o.* FROM ${schema}.operator_find_key(:key) AS o
