package io.github.grpcidempotency.benchmarks.database;

import io.github.grpcidempotency.benchmarks.service.BenchmarkServer;
import io.github.grpcidempotency.benchmarks.service.ProcedureOf;
import io.github.grpcidempotency.benchmarks.service.Variant;
import io.github.grpcidempotency.key.Fingerprint;
import org.jdbi.v3.core.Jdbi;

/**
 * Expired records to load, as calls would have made them.
 *
 * @param count how many
 */
public record KeyLoader(long count) {
  private static final int BATCH = 50_000;

  /**
   * The size at which a full page of records has no room for another reservation. Otherwise each
   * claim would use the rest of an old page, which does not happen in a table that calls of
   * different sizes have filled.
   */
  private static final int FILLS_PAGES = 60;

  /** Loads them into the library's table. Blocks. */
  public void load(Jdbi superuser) {
    String sql = DurableDatabase.script("keys");
    Fingerprint fingerprint = ProcedureOf.FINGERPRINT;
    long begun = System.currentTimeMillis() - count;
    superuser.useHandle(
        handle -> {
          handle.execute(DurableDatabase.script("uuid_v7"));
          // There is nothing for the foreign keys to find.
          handle.execute("SET session_replication_role = replica");
          handle.execute("SET synchronous_commit = off");
          for (long first = 1; first <= count; first += BATCH) {
            handle
                .createUpdate(sql)
                .bindMethods(this)
                .bind("user", BenchmarkServer.USER)
                .bind("procedure", Variant.TRANSACTIONAL.method().getFullMethodName())
                .bind("hash", fingerprint.hash().toByteArray())
                .bind("hash_version", fingerprint.version())
                .bind("response", new byte[FILLS_PAGES])
                .bind("begun", begun)
                .bind("first", first)
                .bind("last", Math.min(count, first + BATCH - 1))
                .execute();
          }
          handle.execute("VACUUM (FREEZE, ANALYZE) idempotency.idempotency_keys");
        });
  }
}
