SELECT ${schema}.sweep_expired(:batch)
