SELECT ${statement_timeout};

SELECT running FROM "${schema}".in_flight(:keys, :user_uuids, :tenants, :projects, :locks) AS running
