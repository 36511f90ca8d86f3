package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.fault.FaultProxy.Trap;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.Claim.Settled;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A claim whose answer was lost is sent again after others have owned and released its row. It then
 * inserts a new operation, so that no owner of the old one holds a fence of it.
 */
class RevivedFenceTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final CreateThingRequest REQUEST = Things.named("a thing");

  private final UUID user = UUID.randomUUID();
  private final ClaimRequest request =
      Things.claimOf(
          new IdempotencyKey(Caller.of(user), UUID.randomUUID().toString()),
          Things.CREATE_THING,
          Fingerprinter.wholeRequest().fingerprint(REQUEST));
  private final KeyTable table = new KeyTable(database);
  private final IdempotencyStore others =
      PostgresIdempotencyStore.builder(database.app()).lease(Duration.ofMinutes(5)).build();
  private final FaultProxy proxy = FaultProxy.before(database.appUrl());

  @AfterEach
  void close() {
    proxy.close();
  }

  @Test
  void aClaimThatIsSentAgainDoesNotReviveTheFenceOfAnOwnerThatWasOvertaken() {
    List<Claim> overtaken = new ArrayList<>();
    IdempotencyStore unlucky =
        PostgresIdempotencyStore.builder(
                beforeTheSecondConnection(
                    () -> {
                      overtaken.add(takeOver());
                      assertThat(takeOver().release()).isEqualTo(Settled.DONE);
                    }))
            .lease(Duration.ofMinutes(5))
            .build();
    Trap cut = proxy.cutAfter("INSERT INTO idempotency.idempotency_keys");
    Claim dead = Things.win(unlucky, request);
    assertThat(cut.hasSprung()).isTrue();

    Claim owner = takeOver();

    assertThat(owner.operationId()).isEqualTo(dead.operationId());
    assertThat(overtaken.get(0).complete(anAnswer())).isEqualTo(Settled.LOST);
    assertThat(owner.complete(anAnswer())).isEqualTo(Settled.DONE);
  }

  private Claim takeOver() {
    table.endLeases(user);
    return Things.win(others, request);
  }

  private static RecordedOutcome anAnswer() {
    return new RecordedOutcome.Response(
        Things.named(UUID.randomUUID().toString()).toByteString(), Optional.empty());
  }

  /**
   * A pool of the application's that something happens to before it gives its second connection.
   */
  private PGSimpleDataSource beforeTheSecondConnection(Runnable event) {
    AtomicInteger connections = new AtomicInteger();
    PGSimpleDataSource dataSource =
        new PGSimpleDataSource() {
          @Override
          public Connection getConnection() throws SQLException {
            if (connections.incrementAndGet() == 2) {
              event.run();
            }
            return super.getConnection();
          }
        };
    dataSource.setUrl(proxy.jdbcUrl());
    return dataSource;
  }
}
