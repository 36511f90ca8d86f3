package io.github.grpcidempotency.postgres;

import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.UUID;
import org.jdbi.v3.core.Jdbi;

/**
 * The real content of the tables, as a superuser sees it, and changes that otherwise only time
 * makes.
 */
final class KeyTable {
  private final Jdbi superuser;

  KeyTable(TestDatabase database) {
    this.superuser = database.superuser();
  }

  /** Returns a user's rows, every column of each. */
  List<String> rowsOf(UUID user) {
    return superuser.withHandle(
        handle ->
            handle
                .createQuery(
                    "SELECT k::text FROM idempotency.idempotency_keys AS k WHERE user_id = :user"
                        + " ORDER BY id")
                .bind("user", user)
                .mapTo(String.class)
                .list());
  }

  /** Returns how many rows there are. */
  int size() {
    return count("SELECT count(*) FROM idempotency.idempotency_keys");
  }

  /** Returns the ids of the things that a user has. */
  List<UUID> thingsOf(UUID user) {
    return superuser.withHandle(
        handle ->
            handle
                .createQuery("SELECT id FROM app.things WHERE user_id = :user")
                .bind("user", user)
                .mapTo(UUID.class)
                .list());
  }

  /** Returns whether a user's only thing and only row were last written by one transaction. */
  boolean joined(UUID user) {
    return superuser.withHandle(
        handle ->
            handle
                .createQuery(
                    """
                    SELECT things.xmin = keys.xmin
                      FROM app.things, idempotency.idempotency_keys AS keys
                     WHERE things.user_id = :user
                       AND keys.user_id = :user
                    """)
                .bind("user", user)
                .mapTo(Boolean.class)
                .one());
  }

  /** Lets all of a user's rows expire, their leases included. */
  void expire(UUID user) {
    update(
        "UPDATE idempotency.idempotency_keys"
            + " SET expires = now() - interval '1 s', lease_expires = now() - interval '1 s'"
            + " WHERE user_id = ?",
        user);
  }

  /** Lets the leases of a user's rows end, as if their owners had died. */
  void endLeases(UUID user) {
    update(
        "UPDATE idempotency.idempotency_keys SET lease_expires = now() - interval '1 ms'"
            + " WHERE user_id = ?",
        user);
  }

  /** Returns when the lease of a user's only row ends. */
  OffsetDateTime leaseEnd(UUID user) {
    return superuser.withHandle(
        handle ->
            handle
                .createQuery(
                    "SELECT lease_expires FROM idempotency.idempotency_keys WHERE user_id = :user")
                .bind("user", user)
                .mapTo(OffsetDateTime.class)
                .one());
  }

  /** Returns the database's time. */
  OffsetDateTime now() {
    return superuser.withHandle(
        handle -> handle.createQuery("SELECT clock_timestamp()").mapTo(OffsetDateTime.class).one());
  }

  /** Adds completed rows, each of a different user, that expire after this time. */
  void add(int rows, Duration untilExpiry) {
    superuser.useHandle(
        handle ->
            handle
                .createUpdate(
                    """
                    INSERT INTO idempotency.idempotency_keys
                      (id, idempotency_key, user_id, procedure, request_hash, hash_version,
                       response_bytes, completed, lease_expires, expires)
                    SELECT gen_random_uuid(), 'key-' || n, gen_random_uuid(), 'a.B/C', '', 1,
                           'secret', now(), now(), now() + :seconds * interval '1 second'
                      FROM generate_series(1, :rows) AS n
                    """)
                .bind("seconds", untilExpiry.toSeconds())
                .bind("rows", rows)
                .execute());
  }

  /** Removes every row. */
  void clear() {
    superuser.useHandle(handle -> handle.execute("TRUNCATE idempotency.idempotency_keys"));
  }

  int count(String query) {
    return superuser.withHandle(handle -> handle.createQuery(query).mapTo(Integer.class).one());
  }

  private void update(String statement, UUID user) {
    superuser.useHandle(handle -> handle.execute(statement, user));
  }
}
