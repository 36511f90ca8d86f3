SELECT o.* FROM ${schema}.operator_find(:id) AS o
