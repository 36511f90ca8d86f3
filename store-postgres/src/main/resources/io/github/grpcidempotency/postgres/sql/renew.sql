SELECT renewed
  FROM ${schema}.renew_leases(:ids, :attempts, :lease_millis * interval '1 millisecond') AS renewed
