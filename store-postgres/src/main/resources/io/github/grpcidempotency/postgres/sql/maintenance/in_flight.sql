SELECT running FROM "${schema}".in_flight(:keys, :users, :tenants, :projects, :locks) AS running
