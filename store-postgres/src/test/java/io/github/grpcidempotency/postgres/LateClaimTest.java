package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.Claim.Settled;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A claim that goes with its handler's first statement. */
class LateClaimTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final Procedure CREATE_THING =
      Procedure.annotated(ThingServiceGrpc.getCreateThingMethod())
          .execution(Execution.TRANSACTIONAL)
          .build();
  private static final String INSERT = "INSERT INTO app.things (id, name) VALUES (?, ?)";

  private final PostgresIdempotencyStore store =
      PostgresIdempotencyStore.builder(database.app()).build();
  private final UUID user = UUID.randomUUID();
  private final ClaimRequest request =
      Things.claimOf(
          new IdempotencyKey(Caller.of(user), UUID.randomUUID().toString()),
          CREATE_THING,
          Fingerprinter.wholeRequest().fingerprint(Things.named("a thing")));

  @AfterEach
  void everyConnectionIsGivenBack() {
    database.awaitAllConnectionsBack();
  }

  @Test
  void aCallOfTwoStatementsTakesThreeRoundTrips() throws Exception {
    try (FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource proxied = PostgresThingServer.pool(proxy.jdbcUrl())) {
      PostgresIdempotencyStore late = PostgresIdempotencyStore.builder(proxied).build();
      late.claimLater(request).transaction().orElseThrow().rollback();
      proxy.forgetRoundTrips();

      Claim claim = late.claimLater(request);
      Connection connection = connection(claim);
      assertThat(proxy.roundTrips()).isEmpty();
      insert(connection);
      assertThat(claim.isWon()).isTrue();
      insert(connection);
      assertThat(claim.confirm()).isTrue();
      assertThat(claim.complete(answer(Optional.empty()))).isEqualTo(Settled.DONE);

      assertThat(proxy.roundTrips()).hasSize(3);
      assertThat(things()).isEqualTo(2);
    }
  }

  @Test
  void aDuplicateOfARecordedCallIsStoppedBeforeItsFirstStatement() throws Exception {
    Claim claim = store.claimLater(request);
    insert(connection(claim));
    assertThat(claim.confirm()).isTrue();
    assertThat(claim.complete(answer(Optional.empty()))).isEqualTo(Settled.DONE);

    Claim duplicate = store.claimLater(request);
    Connection connection = connection(duplicate);
    assertThatThrownBy(() -> insert(connection)).isInstanceOf(ClaimPreemptedException.class);
    assertThatThrownBy(() -> insert(connection)).isInstanceOf(ClaimPreemptedException.class);
    assertThat(duplicate.isPreempted()).isTrue();
    assertThat(duplicate.confirm()).isFalse();

    assertThat(things()).isEqualTo(1);
    assertThat(store.claimInTransaction(request)).isInstanceOf(ClaimResult.Recorded.class);
  }

  private static Connection connection(Claim claim) {
    return ((HandlerTransaction) claim.transaction().orElseThrow()).connection();
  }

  private static UUID insert(Connection connection) throws SQLException {
    UUID id = UUID.randomUUID();
    try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
      insert.setObject(1, id);
      insert.setString(2, "a thing");
      assertThat(insert.executeUpdate()).isEqualTo(1);
    }
    return id;
  }

  private static RecordedOutcome answer(Optional<UUID> thing) {
    return new RecordedOutcome.Response(ByteString.copyFromUtf8("an answer"), thing);
  }

  private int things() {
    return new KeyTable(database)
        .count("SELECT count(*) FROM app.things WHERE user_id = '" + user + "'");
  }
}
