SELECT ${statement_timeout};

SELECT renewed
  FROM "${schema}".renew_leases(
         :ids, :attempts, CAST(:lease_millis AS bigint) * interval '1 millisecond') AS renewed
