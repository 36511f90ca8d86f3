package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.postgres.spi.HostTransactions;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.SetupException;
import io.github.grpcidempotency.store.StoreException;
import java.sql.Connection;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssertAlternative;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A server does not start if its host's transactions cannot guard its calls. */
class HostSetupTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  @AfterEach
  void nothingIsLeftBehind() {
    database.awaitAllConnectionsBack();
    assertThat(new KeyTable(database).size()).isZero();
  }

  @Test
  void transactionsOnTheStoresDatabaseAreAccepted() {
    ThreadTransactions host = new ThreadTransactions(database.newAppPool());

    verify(host);

    assertThat(host.isActive()).isFalse();
  }

  @Test
  void transactionsOnAnotherDatabaseAreRefused() {
    try (TestDatabase other = TestDatabase.create()) {
      assertThatVerifying(new ThreadTransactions(other.app()))
          .withMessageContaining("handlers' transactions are on another database (" + other.name())
          .withMessageContaining("the store's pool (" + database.name());
    }
  }

  @Test
  void transactionsOfAnotherRoleAreRefused() {
    DataSource owner = database.owner();
    assertThatVerifying(new ThreadTransactions(owner))
        .withMessageContaining("handlers' transactions have the role things_owner")
        .withMessageContaining("the store's pool has the role things_app");
  }

  @Test
  void readOnlyTransactionsAreRefused() {
    assertThatVerifying(
            new ThreadTransactions(database.app())
                .settings(connection -> ThreadTransactions.sql(() -> connection.setReadOnly(true))))
        .withMessageContaining("handlers' transactions are read-only");
  }

  @Test
  void aConnectionThatTheHostDoesNotManageIsRefused() {
    assertThatVerifying(new ThreadTransactions(database.app()).view(HostSetupTest::unmanaged))
        .withMessageContaining("autocommit mode")
        .withMessageContaining("use the data source that the host's transaction manager manages");
  }

  @Test
  void aHostThatCommitsWithoutTheRecordIsRefused() {
    assertThatVerifying(new ThreadTransactions(database.app()).forgetful())
        .withMessageContaining("a trial call of the start-up check could not record its answer")
        .withMessageContaining("correct the HostTransactions implementation");
  }

  @Test
  void aHostThatCannotBeginIsRefused() {
    assertThatVerifying(
            new ThreadTransactions(database.app())
                .step(
                    step -> {
                      throw new UnsupportedOperationException("no transactions today");
                    }))
        .withMessageContaining("no transactions today");
  }

  /** That may pass, so it is no problem of the set-up. */
  @Test
  void aHostWhoseDatabaseIsOutOfReachIsAFailureOfTheStore() {
    try (FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource cut = PostgresThingServer.pool(proxy.jdbcUrl())) {
      proxy.refuse();

      assertThatExceptionOfType(StoreException.class)
          .isThrownBy(() -> verify(new ThreadTransactions(cut)))
          .returns(FailureCause.NO_LOGIN, StoreException::failureCause);
    }
  }

  private static Connection unmanaged(Connection connection) {
    ThreadTransactions.sql(() -> connection.setAutoCommit(true));
    return connection;
  }

  private static ThrowableAssertAlternative<SetupException> assertThatVerifying(
      HostTransactions host) {
    return assertThatExceptionOfType(SetupException.class).isThrownBy(() -> verify(host));
  }

  private static void verify(HostTransactions host) {
    Things.verify(storeOf(host), Things.TRANSACTIONAL);
  }

  private static PostgresIdempotencyStore storeOf(HostTransactions host) {
    return PostgresIdempotencyStore.builder(database.app()).hostTransactions(host).build();
  }
}
