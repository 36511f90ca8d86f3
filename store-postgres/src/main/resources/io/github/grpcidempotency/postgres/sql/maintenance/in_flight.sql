SELECT running FROM ${schema}.in_flight(:keys, :users, :locks) AS running
