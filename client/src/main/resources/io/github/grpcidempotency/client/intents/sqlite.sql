-- The intents of a client, as in V1__intents.sql. Times are milliseconds since 1970. The large columns are last.
CREATE TABLE IF NOT EXISTS idempotency_client_intents (
  key      TEXT    NOT NULL PRIMARY KEY,
  target   TEXT    NOT NULL,
  method   TEXT    NOT NULL,
  created  INTEGER NOT NULL DEFAULT (CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER)),
  due      INTEGER NOT NULL DEFAULT (CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER)),
  attempts INTEGER NOT NULL DEFAULT 0,
  sent     INTEGER NOT NULL DEFAULT 0,
  fence    INTEGER NOT NULL DEFAULT 0,
  request  BLOB    NOT NULL,
  answer   BLOB
) STRICT
