-- Secrets are told once. What is kept of them is enough to recognise one, and not enough to say it.
ALTER TABLE tenant.api_keys
  ADD COLUMN token_sha256 bytea UNIQUE CHECK (length(token_sha256) = 32),
  ADD COLUMN revoked timestamptz;

ALTER TABLE tenant.invites
  ADD COLUMN link_sha256 bytea UNIQUE CHECK (length(link_sha256) = 32);

GRANT UPDATE (revoked) ON tenant.api_keys TO ${app_role};
