-- What a provider calls the machine that it has sold for a cluster; null for the clusters that there were before.
ALTER TABLE tenant.clusters ADD COLUMN machine text;
