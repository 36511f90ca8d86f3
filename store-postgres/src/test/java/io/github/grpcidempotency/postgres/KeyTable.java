package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.spi.ClaimRequest;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.UUID;

/**
 * The real content of the tables, as a superuser sees it, and changes that otherwise only time
 * makes.
 */
record KeyTable(TestDatabase database) {
  /** Returns a user's rows, every column of each. */
  List<String> rowsOf(UUID user) {
    return database.list(
        String.class,
        "SELECT k::text FROM idempotency.idempotency_keys AS k WHERE user_uuid = ? ORDER BY id",
        user);
  }

  /** Returns how many rows there are. */
  int size() {
    return count("SELECT count(*) FROM idempotency.idempotency_keys");
  }

  /** Returns the ids of the things that a user has. */
  List<UUID> thingsOf(UUID user) {
    return database.list(UUID.class, "SELECT id FROM app.things WHERE user_id = ?", user);
  }

  /** Returns whether a user's only thing and only row were last written by one transaction. */
  boolean joined(UUID user) {
    return database.one(
        Boolean.class,
        """
        SELECT things.xmin = keys.xmin
          FROM app.things
          JOIN idempotency.idempotency_keys AS keys ON user_uuid = user_id
         WHERE user_id = ?
        """,
        user);
  }

  /** Lets all of a user's rows expire, their leases included. */
  void expire(UUID user) {
    database.execute(
        "UPDATE idempotency.idempotency_keys"
            + " SET expires = now() - interval '1 s', lease_expires = now() - interval '1 s'"
            + " WHERE user_uuid = ?",
        user);
  }

  /** Lets the leases of a user's rows end, as if their owners had died. */
  void endLeases(UUID user) {
    database.execute(
        "UPDATE idempotency.idempotency_keys SET lease_expires = now() - interval '1 ms'"
            + " WHERE user_uuid = ?",
        user);
  }

  /** Returns when the lease of a user's only row ends. */
  OffsetDateTime leaseEnd(UUID user) {
    return database.one(
        OffsetDateTime.class,
        "SELECT lease_expires FROM idempotency.idempotency_keys WHERE user_uuid = ?",
        user);
  }

  /** Reserves a key without its lock, as no server does. */
  void reserve(ClaimRequest request) {
    database.execute(
        """
        INSERT INTO idempotency.idempotency_keys
          (id, idempotency_key, user_uuid, procedure, request_hash, hash_version, lease_expires, expires)
        VALUES (gen_random_uuid(), ?, ?, ?, ?, ?, now() + interval '1 minute', now() + interval '1 day')
        """,
        request.key().value(),
        request.key().caller().userId(),
        request.procedure().name(),
        request.fingerprint().hash().toByteArray(),
        request.fingerprint().version());
  }

  /** Adds completed rows, each of a different user, that expire after this time. */
  void add(int rows, Duration untilExpiry) {
    database.execute(
        """
        INSERT INTO idempotency.idempotency_keys
          (id, idempotency_key, user_uuid, procedure, request_hash, hash_version,
           response_bytes, completed, lease_expires, expires)
        SELECT gen_random_uuid(), 'key-' || n, gen_random_uuid(), 'a.B/C', '', 1,
               'secret', now(), now(), now() + ? * interval '1 second'
          FROM generate_series(1, ?) AS n
        """,
        untilExpiry.toSeconds(),
        rows);
  }

  /** Removes every row. */
  void clear() {
    database.execute("TRUNCATE idempotency.idempotency_keys");
  }

  int count(String query) {
    return database.one(Integer.class, query);
  }
}
