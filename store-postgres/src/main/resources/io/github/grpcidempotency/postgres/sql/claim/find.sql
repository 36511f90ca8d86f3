-- Without generic plans, PostgreSQL would also plan every look-up again if an outbox has grown since it was
-- analyzed.
SELECT ${caller}, ${lock_timeout}, ${generic_plans}${settings};

${select_record}
