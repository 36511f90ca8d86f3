package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.grpc.JourneyStore;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.testing.PostgresFixture;
import java.time.Duration;
import org.jdbi.v3.core.Jdbi;

/**
 * The PostgreSQL of the tests of calls, as the role of the application. Their handlers write
 * nothing, so answers name things of which there is no row.
 */
public final class PostgresJourneyStore implements JourneyStore {
  private static final PostgresFixture DATABASE =
      PostgresFixture.withRoles("things_owner", "things_app")
          .checkConnections()
          .migrate(IdempotencySchema::migrate)
          .migrate(
              owner ->
                  Jdbi.create(owner)
                      .useHandle(
                          handle ->
                              handle
                                  .createScript(
                                      """
                                      SELECT idempotency.add_resource_type('thing', NULL, enforced => false);
                                      SELECT idempotency.grant_to('things_app');
                                      """)
                                  .executeAsSeparateStatements()))
          .create();

  @Override
  public IdempotencyStore newStore(Duration lease) {
    execute("DELETE FROM idempotency.idempotency_keys");
    return PostgresIdempotencyStore.builder(DATABASE.pool())
        .through(HeldConnections::of)
        .lease(lease)
        .build();
  }

  @Override
  public void letPass(Duration time) {
    execute(
        """
        UPDATE idempotency.idempotency_keys
           SET created = created - interval '%1$s',
               lease_expires = lease_expires - interval '%1$s',
               expires = expires - interval '%1$s'
        """
            .formatted(time));
  }

  private static void execute(String statement) {
    Jdbi.create(DATABASE.superuser()).useHandle(handle -> handle.execute(statement));
  }
}
