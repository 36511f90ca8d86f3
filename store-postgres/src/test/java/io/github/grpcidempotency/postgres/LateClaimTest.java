package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.Claim.Settled;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.PendingClaim;
import io.github.grpcidempotency.store.StoreException;
import java.io.StringWriter;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.spi.JdbiPlugin;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;
import org.postgresql.core.BaseConnection;
import org.postgresql.util.PGobject;

/** A claim that goes with its handler's first statement. */
class LateClaimTest {
  @RegisterExtension
  static final TestDatabase database = TestDatabase.create().awaitingConnections();

  private static final String INSERT = "INSERT INTO app.things (id, name) VALUES (?, ?)";
  private static final String CLAIM = "refuse_claim";

  private final PostgresIdempotencyStore store =
      PostgresIdempotencyStore.builder(database.app()).build();
  private final UUID user = UUID.randomUUID();
  private final ClaimRequest request = Things.claimOf(user, Things.TRANSACTIONAL);

  /** Jdbi asks for the driver to tell it about types, as its plugin for PostgreSQL does. */
  @Test
  void aHandleOfJdbiSendsTheClaimWithItsFirstStatement() {
    JdbiPlugin types =
        new JdbiPlugin() {
          @Override
          public Handle customizeHandle(Handle handle) throws SQLException {
            handle.getConnection().unwrap(PGConnection.class).addDataType("x", PGobject.class);
            return handle;
          }
        };
    try (FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource proxied = PostgresThingServer.pool(proxy.jdbcUrl())) {
      PostgresIdempotencyStore late =
          PostgresIdempotencyStore.builder(proxied).jdbi(jdbi -> jdbi.installPlugin(types)).build();
      late.claimLater(request).transaction().rollback();
      proxy.forgetRoundTrips();

      PendingClaim claim = late.claimLater(request);
      Handle handle = LateClaims.transaction(claim).guardedHandle();
      List<String> names =
          handle
              .createQuery(
                  "INSERT INTO app.things (id, name) VALUES (:id, :name), (:other, :name) RETURNING"
                      + " name")
              .bind("id", UUID.randomUUID())
              .bind("other", UUID.randomUUID())
              .bind("name", "a thing")
              .mapTo(String.class)
              .list();

      assertThat(names).containsExactly("a thing", "a thing");
      assertThat(proxy.roundTrips()).singleElement().asString().contains(CLAIM, "app.things");
      Claim won = claim.confirm().orElseThrow();
      assertThat(won.complete(Things.ANSWER)).isEqualTo(Settled.DONE);
      assertThat(proxy.roundTrips()).hasSize(2);
      assertThat(things()).isEqualTo(2);
    }
  }

  @Test
  void aDuplicateOfARecordedCallCannotUseItsConnection() throws Exception {
    completeFirst();

    PendingClaim duplicate = store.claimLater(request);
    Connection connection = LateClaims.connection(duplicate);
    PreparedStatement before = connection.prepareStatement(INSERT);
    assertPreempted(() -> insert(connection));
    assertThat(duplicate.isWon()).isFalse();

    assertPreempted(() -> insert(connection));
    assertPreempted(before::executeUpdate);
    assertPreempted(connection::createStatement);
    assertPreempted(connection::getMetaData);
    assertPreempted(() -> connection.unwrap(PGConnection.class));
    assertPreempted(() -> connection.getAutoCommit());
    before.close();
    assertThat(connection.isClosed()).isTrue();
    assertThat(duplicate.confirm()).isEmpty();
    assertThat(duplicate.confirm()).isEmpty();
    assertPreempted(connection::createStatement);

    assertThat(things()).isEqualTo(1);
    assertThat(store.claimInTransaction(request)).isInstanceOf(ClaimResult.Recorded.class);
  }

  /** As {@code new CopyManager((BaseConnection) connection.unwrap(PGConnection.class))} does. */
  @Test
  void theDriverThatIsUnwrappedCanBeCastToItsConnection() throws Exception {
    PendingClaim claim = store.claimLater(request);

    PGConnection driver = LateClaims.connection(claim).unwrap(PGConnection.class);
    new CopyManager((BaseConnection) driver)
        .copyOut("COPY app.things TO STDOUT", new StringWriter());

    assertThat(claim.isWon()).isTrue();
    Claim won = claim.confirm().orElseThrow();
    assertThat(won.complete(Things.ANSWER)).isEqualTo(Settled.DONE);
  }

  @Test
  void aStatementThatTheServerHasPreparedAndWhoseResultsAreUnboundedDoesNotRunEither()
      throws Exception {
    String sql =
        "INSERT INTO app.things (id, name)"
            + " VALUES (gen_random_uuid(), ?::timestamp || coalesce(?, '')) RETURNING name";
    try (HikariDataSource single = database.newAppPool(1)) {
      PostgresIdempotencyStore late = PostgresIdempotencyStore.builder(single).build();
      for (int call = 0; call < 8; call++) {
        PendingClaim claim =
            late.claimLater(Things.claimOf(UUID.randomUUID(), Things.TRANSACTIONAL));
        describe(LateClaims.connection(claim), sql);
        claim.transaction().rollback();
      }
      completeFirst();

      PendingClaim duplicate = late.claimLater(request);
      assertPreempted(() -> describe(LateClaims.connection(duplicate), sql));
      assertThat(duplicate.confirm()).isEmpty();
      assertThat(things()).isEqualTo(1);
    }
  }

  private static void describe(Connection connection, String sql) throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement(sql)) {
      insert.setTimestamp(1, new java.sql.Timestamp(0));
      insert.setNull(2, java.sql.Types.OTHER);
      boolean unused = insert.execute();
    }
  }

  @Test
  void aTransactionThatIsSetToRollbackOnlyBeforeItsClaimIsRolledBack() {
    PendingClaim claim = store.claimLater(request);
    claim.transaction().setRollbackOnly();

    Claim won = claim.confirm().orElseThrow();
    assertThat(won.complete(Things.ANSWER)).isEqualTo(Settled.ROLLED_BACK);
    assertFree();
  }

  @Test
  void aFirstStatementThatEndsTheTransactionIsNotSent() {
    PendingClaim claim = store.claimLater(request);

    assertThatIllegalStateException()
        .isThrownBy(() -> LateClaims.connection(claim).prepareStatement("SELECT 1; ROLLBACK"))
        .withMessageContaining("was not sent");
    Claim won = claim.confirm().orElseThrow();
    assertThat(won.release()).isEqualTo(Settled.DONE);
    assertFree();
  }

  @Test
  void aConnectionThatIsCutInItsFirstFlushIsPreempted() throws Exception {
    for (boolean before : new boolean[] {true, false}) {
      try (FaultProxy proxy = FaultProxy.before(database.appUrl());
          HikariDataSource proxied = PostgresThingServer.pool(proxy.jdbcUrl())) {
        PostgresIdempotencyStore late = PostgresIdempotencyStore.builder(proxied).build();
        FaultProxy.Trap cut = before ? proxy.cutBefore(CLAIM) : proxy.cutAfter(CLAIM);
        PendingClaim claim = late.claimLater(request);

        assertPreempted(() -> insert(LateClaims.connection(claim)));
        assertThat(cut.hasSprung()).isTrue();
        assertThat(claim.confirm()).isEmpty();
        assertThat(things()).isZero();
      }
    }
  }

  @Test
  void aConnectionThatIsClosedBeforeItsFirstFlushIsPreempted() throws Exception {
    PendingClaim claim = store.claimLater(request);
    PreparedStatement statement = LateClaims.connection(claim).prepareStatement("SELECT 1");
    LateClaims.transaction(claim).unguarded().unwrap(BaseConnection.class).close();

    assertPreempted(statement::execute);
    assertThat(claim.confirm()).isEmpty();
    assertFree();
  }

  @Test
  void onAReadOnlyDatabaseTheOrdinaryClaimReportsTheCause() {
    try (HikariDataSource readOnly =
        PostgresThingServer.pool(
            database.appUrl() + "&options=-c%20default_transaction_read_only=on")) {
      PostgresIdempotencyStore late = PostgresIdempotencyStore.builder(readOnly).build();
      PendingClaim claim = late.claimLater(request);

      assertPreempted(() -> insert(LateClaims.connection(claim)));
      assertThat(claim.confirm()).isEmpty();
      assertThatExceptionOfType(StoreException.class)
          .isThrownBy(() -> late.claimInTransaction(request))
          .matches(failure -> failure.failureCause() == FailureCause.READ_ONLY);
    }
  }

  /** Its look for a lock and a record has the snapshot of its transaction. */
  @Test
  void aDuplicateIsStoppedInASerializableTransactionToo() throws Exception {
    try (HikariDataSource pool =
        PostgresThingServer.pool(
            database.appUrl() + "&options=-c%20default_transaction_isolation=serializable")) {
      PostgresIdempotencyStore late = PostgresIdempotencyStore.builder(pool).build();
      PendingClaim claim = late.claimLater(request);
      insert(LateClaims.connection(claim));

      PendingClaim meanwhile = late.claimLater(request);
      assertPreempted(() -> insert(LateClaims.connection(meanwhile)));
      assertThat(meanwhile.confirm()).isEmpty();
      assertThat(claim.confirm().orElseThrow().complete(Things.ANSWER)).isEqualTo(Settled.DONE);

      PendingClaim duplicate = late.claimLater(request);
      assertPreempted(() -> insert(LateClaims.connection(duplicate)));
      assertThat(duplicate.confirm()).isEmpty();
      assertThat(things()).isEqualTo(1);
    }
  }

  @Test
  void aStatementExposesNeitherTheDriverNorTheKey() throws Exception {
    PendingClaim claim = store.claimLater(request);
    Connection connection = LateClaims.connection(claim);
    try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
      insert.setString(2, "a secret");
      assertThat(insert).hasToString(INSERT).isEqualTo(insert).isNotEqualTo(connection);
      assertThatThrownBy(() -> insert.getConnection().commit())
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("commit must not be called");
      assertThat(connection.getAutoCommit()).isFalse();
    }
    claim.transaction().rollback();
  }

  private void completeFirst() throws SQLException {
    PendingClaim claim = store.claimLater(request);
    insert(LateClaims.connection(claim));
    Claim won = claim.confirm().orElseThrow();
    assertThat(won.complete(Things.ANSWER)).isEqualTo(Settled.DONE);
  }

  private void assertFree() {
    ClaimResult again = store.claimInTransaction(request);
    assertThat(again).isInstanceOf(ClaimResult.Won.class);
    ((ClaimResult.Won) again).claim().release();
  }

  private static void assertPreempted(ThrowingCallable use) {
    assertThatThrownBy(use).isInstanceOf(ClaimPreemptedException.class);
  }

  private static UUID insert(Connection connection) throws SQLException {
    UUID id = UUID.randomUUID();
    insert(connection, id);
    return id;
  }

  private static void insert(Connection connection, UUID id) throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
      insert.setObject(1, id);
      insert.setString(2, "a thing");
      assertThat(insert.executeUpdate()).isEqualTo(1);
    }
  }

  private int things() {
    return new KeyTable(database)
        .count("SELECT count(*) FROM app.things WHERE user_id = '" + user + "'");
  }
}
