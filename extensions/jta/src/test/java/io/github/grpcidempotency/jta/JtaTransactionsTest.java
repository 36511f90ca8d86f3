package io.github.grpcidempotency.jta;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.common.base.Throwables;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.postgres.spi.HostTransaction;
import io.github.grpcidempotency.postgres.spi.HostTransaction.Completion;
import io.github.grpcidempotency.spi.StoreTransaction;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.TransactionMisuseException;
import io.github.grpcidempotency.testing.PostgresFixture;
import jakarta.transaction.InvalidTransactionException;
import jakarta.transaction.RollbackException;
import jakarta.transaction.Status;
import jakarta.transaction.Transaction;
import jakarta.transaction.TransactionManager;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JtaTransactionsTest {
  @RegisterExtension
  static final PostgresFixture database =
      PostgresFixture.withRoles("jta_owner", "jta_app")
          .migrate(
              owner ->
                  execute(
                      owner,
                      """
                      CREATE TABLE parents (id int PRIMARY KEY);
                      CREATE TABLE children (parent int NOT NULL REFERENCES parents);
                      GRANT SELECT, INSERT ON parents, children TO jta_app;
                      """))
          .create();

  private static Narayana host;
  private static JtaTransactions transactions;

  @BeforeAll
  static void start() throws Exception {
    host = new Narayana(database.jdbcUrl("jta_app"));
    transactions = host.transactions;
  }

  @AfterAll
  static void stop() {
    host.close();
  }

  @AfterEach
  void nothingIsLeftBehind() throws Exception {
    boolean left = host.manager.getTransaction() != null;
    if (left) {
      host.manager.rollback();
    }
    assertThat(left).isFalse();
    assertThat(host.pool.getMetrics().activeCount()).isZero();
    assertThat(host.warnings()).isEmpty();
  }

  @Test
  void allWritersInATransactionShareOneConnection() throws Exception {
    HostTransaction transaction = transactions.begin("test");

    assertThat(transaction.connection().getAutoCommit()).isFalse();
    assertThat(transaction.connection()).isSameAs(transaction.connection());
    assertThat(host.pool.getMetrics().activeCount()).isOne();
    host.execute("INSERT INTO parents VALUES (1)");
    assertThat(host.pool.getMetrics().activeCount()).isOne();

    transaction.rollback();
    assertThat(parents()).isZero();
  }

  @Test
  void aThreadWithoutATransactionHasNoCurrentOne() {
    assertThat(transactions.isActive()).isFalse();
  }

  @Test
  void aTransactionThatTheThreadHasIsSuspendedUntilTheClaimsHasEnded() throws Exception {
    host.required(
        () -> {
          host.execute("INSERT INTO parents VALUES (1)");
          HostTransaction transaction = transactions.begin("test");
          host.execute("INSERT INTO parents VALUES (2)");
          transaction.rollback();

          transaction = transactions.begin("test");
          host.execute("INSERT INTO parents VALUES (3)");
          assertThat(transaction.commit(() -> {})).isEqualTo(Completion.COMMITTED);
          assertThat(parents()).isOne();
        });

    assertThat(parents()).isEqualTo(2);
  }

  @Test
  void aTransactionThatAHandlerSetsToRollBackDoesSo() throws Exception {
    HostTransaction transaction = transactions.begin("test");
    host.execute("INSERT INTO parents VALUES (1)");
    host.manager.setRollbackOnly();

    assertThat(transaction.commit(JtaTransactionsTest::never)).isEqualTo(Completion.ROLLED_BACK);
    assertThat(parents()).isZero();
  }

  private static void never() {
    throw new AssertionError("the record is not written");
  }

  @Test
  void aTransactionThatAHandlerRollsBackIsRolledBack() throws Exception {
    HostTransaction transaction = transactions.begin("test");
    host.execute("INSERT INTO parents VALUES (1)");
    host.manager.rollback();

    assertThat(transaction.commit(JtaTransactionsTest::never)).isEqualTo(Completion.ROLLED_BACK);
    assertThat(parents()).isZero();
  }

  @Test
  void whoeverCommitsATransactionThatIsMarkedForRollbackGetsAnException() throws Exception {
    assertThatThrownBy(
            () ->
                host.required(
                    () -> {
                      assertThat(transactions.isActive()).isTrue();
                      host.execute("INSERT INTO parents VALUES (1)");
                      transactions.setRollbackOnly();
                    }))
        .isInstanceOf(RollbackException.class);
    assertThat(parents()).isZero();
  }

  @Test
  void aLateFlushThatFailsIsReportedWithItsCause() throws Exception {
    HostTransaction transaction = transactions.begin("test");
    host.execute("INSERT INTO parents VALUES (1)");
    host.executeLate("INSERT INTO children VALUES (2)");

    assertThatThrownBy(() -> transaction.commit(JtaTransactionsTest::never))
        .rootCause()
        .isInstanceOfSatisfying(
            SQLException.class, cause -> assertThat(cause.getSQLState()).isEqualTo("23503"));
    assertThat(parents()).isZero();
  }

  @ParameterizedTest
  @ValueSource(classes = {IllegalStateException.class, NoSuchMethodError.class})
  void aRecordThatFailsRollsBackAndIsReportedUnchanged(Class<? extends Throwable> kind)
      throws Exception {
    HostTransaction transaction = transactions.begin("test");
    Throwable failure = kind.getConstructor().newInstance();
    host.execute("INSERT INTO parents VALUES (1)");

    assertThatThrownBy(() -> transaction.commit(() -> Throwables.throwIfUnchecked(failure)))
        .hasRootCause(failure);
    assertThat(parents()).isZero();
  }

  @Test
  void anErrorWhileATransactionBeginsLeavesNothingOnTheThread() throws Exception {
    DataSource failing =
        (DataSource)
            Proxy.newProxyInstance(
                JtaTransactionsTest.class.getClassLoader(),
                new Class<?>[] {DataSource.class},
                (self, method, arguments) -> {
                  throw new NoSuchMethodError();
                });
    JtaTransactions beginning = JtaTransactions.of(host.manager, host.registry, failing);

    host.required(
        () -> {
          Transaction outer = host.manager.getTransaction();
          assertThatThrownBy(() -> beginning.begin("test")).isInstanceOf(NoSuchMethodError.class);
          assertThat(host.manager.getTransaction()).isEqualTo(outer);
        });
  }

  @Test
  void aGivenUpHandlerLosesItsConnectionAndItsThreadTheTransaction() throws Exception {
    StoreTransaction begun = begin(transactions);
    host.execute("INSERT INTO parents VALUES (1)");

    CompletableFuture.runAsync(begun::close).join();

    assertThatThrownBy(() -> host.execute("INSERT INTO parents VALUES (2)"))
        .hasRootCauseInstanceOf(SQLException.class);
    begun.close();
    assertThat(host.manager.getTransaction()).isNull();
    assertThat(parents()).isZero();
    await().until(() -> host.pool.getMetrics().activeCount() == 0);
  }

  private static StoreTransaction begin(JtaTransactions transactions) {
    return PostgresIdempotencyStore.builder(host.pool)
        .connections(database.pool())
        .hostTransactions(transactions)
        .build()
        .begin(Optional.empty());
  }

  @Test
  void aCommitWhoseAnswerIsLostIsNotReportedAsARollback() throws Exception {
    StoreTransaction begun = begin(transactions);
    host.execute("INSERT INTO parents VALUES (1)");
    host.atEnd(
        () -> {
          int backend = backend();
          execute(database.superuser(), "SELECT pg_terminate_backend(" + backend + ", 9000)");
        });

    assertThatThrownBy(begun::commit)
        .isInstanceOfSatisfying(
            StoreException.class,
            unknown -> assertThat(unknown.failureCause().mayBeDone()).isTrue());
  }

  @Test
  void transactionsThatTimedOutAreRolledBackAndLeaveTheirThread() throws Exception {
    host.manager.setTransactionTimeout(1);
    HostTransaction outer = transactions.begin("test");
    host.execute("INSERT INTO parents VALUES (1)");
    HostTransaction inner = transactions.begin("test");
    host.execute("INSERT INTO parents VALUES (2)");
    host.manager.setTransactionTimeout(0);
    Transaction timingOut = host.manager.getTransaction();
    await().until(() -> timingOut.getStatus() == Status.STATUS_ROLLEDBACK);

    inner.rollback();
    assertThat(outer.commit(JtaTransactionsTest::never)).isEqualTo(Completion.ROLLED_BACK);
    assertThat(parents()).isZero();
  }

  @Test
  void aHandlerThatCommitsTheClaimsTransactionIsFound() throws Exception {
    HostTransaction transaction = transactions.begin("test");
    host.manager.commit();
    host.warnings().clear(); // of the claim's connection, which was still open

    assertThatThrownBy(() -> transaction.commit(JtaTransactionsTest::never))
        .isInstanceOf(TransactionMisuseException.class);
  }

  @Test
  void aTransactionThatAHandlerLeavesOpenEndsWithTheClaims() throws Exception {
    HostTransaction transaction = transactions.begin("test");
    host.execute("INSERT INTO parents VALUES (1)");
    host.manager.suspend();
    host.manager.begin();
    host.execute("INSERT INTO parents VALUES (2)");

    assertThatThrownBy(() -> transaction.commit(JtaTransactionsTest::never))
        .isInstanceOf(TransactionMisuseException.class);
    assertThat(parents()).isZero();
  }

  @Test
  void aTransactionThatTheThreadCannotResumeIsRolledBack() throws Exception {
    TransactionManager refusing =
        (TransactionManager)
            Proxy.newProxyInstance(
                JtaTransactionsTest.class.getClassLoader(),
                new Class<?>[] {TransactionManager.class},
                (self, method, arguments) -> {
                  if (method.getName().equals("resume")) {
                    throw new InvalidTransactionException();
                  }
                  return method.invoke(host.manager, arguments);
                });
    HostTransaction transaction =
        JtaTransactions.of(refusing, host.registry, host.pool).begin("test");
    host.execute("INSERT INTO parents VALUES (1)");
    Transaction left = host.manager.suspend();

    transaction.rollback();

    assertThat(left.getStatus()).isEqualTo(Status.STATUS_ROLLEDBACK);
    assertThat(parents()).isZero();
  }

  @Test
  void aSuspensionOfTheClaimsTransactionIsReportedIfTheHostReportsIt() throws Exception {
    HostTransaction transaction = transactions.begin("test");
    assertThat(transaction.wasSuspended()).isFalse();
    host.requiresNew(() -> host.execute("INSERT INTO parents VALUES (1)"));
    transaction.rollback();

    assertThat(transaction.wasSuspended()).isTrue();
    assertThat(parents()).isOne();
  }

  @Test
  void aDataSourceThatJoinsNoTransactionIsRefused() throws Exception {
    JtaTransactions unenlisted =
        JtaTransactions.of(host.manager, host.registry, database.as("jta_app"));

    assertThatThrownBy(() -> begin(unenlisted))
        .isInstanceOf(StoreException.class)
        .hasStackTraceContaining("autocommit mode");
    assertThat(host.manager.getTransaction()).isNull();
  }

  private static int parents() throws SQLException {
    return count("parents");
  }

  private static int count(String table) throws SQLException {
    try (Connection connection = database.superuser().getConnection()) {
      return number(connection, "SELECT count(*) FROM " + table);
    }
  }

  private static int backend() throws SQLException {
    try (Connection connection = host.pool.getConnection()) {
      return number(connection, "SELECT pg_backend_pid()");
    }
  }

  private static int number(Connection connection, String query) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(query)) {
      row.next();
      return row.getInt(1);
    }
  }

  private static void execute(DataSource dataSource, String sql) {
    try (Connection connection = dataSource.getConnection()) {
      execute(connection, sql);
    } catch (SQLException failure) {
      throw new IllegalStateException(failure);
    }
  }

  private static void execute(Connection connection, String sql) {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException failure) {
      throw new IllegalStateException(failure);
    }
  }
}
