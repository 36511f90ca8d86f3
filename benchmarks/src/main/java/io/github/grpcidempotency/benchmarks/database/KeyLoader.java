package io.github.grpcidempotency.benchmarks.database;

import io.github.grpcidempotency.benchmarks.service.BenchmarkServer;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/** Fills tables of keys as calls would have filled them, each with the project that it created. */
public final class KeyLoader {
  private static final int BATCH = 100_000;

  /**
   * Such that a full page of records has no room for one reservation more. With a rest on every
   * page, each claim would go to an old page of its own, which does not happen where calls of
   * different sizes have filled the table.
   */
  private static final int RESPONSE_BYTES = 60;

  /** A UUIDv7 whose time is so many milliseconds ago as its number says. */
  private static final String TIME_ORDERED =
      """
      CREATE FUNCTION pg_temp.uuid_v7(millis bigint) RETURNS uuid LANGUAGE sql VOLATILE AS $$
        SELECT encode(
                 set_byte(
                   overlay(uuid_send(gen_random_uuid()) PLACING substring(int8send(millis) FROM 3)
                           FROM 1 FOR 6),
                   6, 112 + (get_byte(uuid_send(gen_random_uuid()), 6) & 15)),
                 'hex')::uuid
      $$
      """;

  private static final String LOAD =
      """
      WITH now AS (
        SELECT (extract(epoch FROM now()) * 1000)::bigint AS millis
      ), numbered AS (
        SELECT pg_temp.uuid_v7(now.millis - :left + n) AS id,
               pg_temp.uuid_v7(now.millis - :left + n) AS ordered_key,
               gen_random_uuid() AS random_key
          FROM now, generate_series(1, :batch) AS n
      ), project AS (
        INSERT INTO app.project (id, user_id, name)
        SELECT id, CAST(:user AS uuid), 'a project of an ordinary name' FROM numbered
      )
      INSERT INTO ${schema}.idempotency_keys
        (id, idempotency_key, user_id, procedure, request_hash, hash_version,
         response_bytes, project_id, completed, expires)
      SELECT id, CASE WHEN :ordered THEN ordered_key ELSE random_key END, CAST(:user AS uuid),
             'grpcidempotency.benchmarks.v1.Projects/TRANSACTIONAL', sha256(uuid_send(id)), 1,
             repeat('x', :response_bytes)::bytea, id, now(), now() + :expires_seconds * interval '1 second'
        FROM numbered
      """;

  private KeyLoader() {}

  /** Loads live keys, ordered by time or random. */
  public static void loadLive(Jdbi superuser, String schema, int keys, boolean ordered) {
    superuser.useHandle(handle -> load(handle, schema, keys, ordered, 86_400));
  }

  /** Loads keys that have expired. */
  public static void loadExpired(Jdbi superuser, String schema, int keys) {
    superuser.useHandle(handle -> load(handle, schema, keys, true, -1));
  }

  private static void load(
      Handle handle, String schema, int keys, boolean ordered, int expiresSeconds) {
    handle.execute(TIME_ORDERED);
    // Resource and key are inserted by one statement: there is nothing for the foreign key to find.
    handle.execute("SET session_replication_role = replica");
    handle.execute("SET synchronous_commit = off");
    for (int left = keys; left > 0; left -= BATCH) {
      handle
          .createUpdate(LOAD.replace("${schema}", schema))
          .bind("left", left)
          .bind("batch", Math.min(left, BATCH))
          .bind("user", BenchmarkServer.USER.toString())
          .bind("ordered", ordered)
          .bind("response_bytes", RESPONSE_BYTES)
          .bind("expires_seconds", expiresSeconds)
          .execute();
    }
    handle.execute("VACUUM ANALYZE " + schema + ".idempotency_keys");
  }
}
