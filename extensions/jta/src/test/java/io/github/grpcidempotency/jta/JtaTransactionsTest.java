package io.github.grpcidempotency.jta;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.common.base.Throwables;
import io.github.grpcidempotency.postgres.HostTransaction;
import io.github.grpcidempotency.postgres.HostTransaction.Completion;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.store.TransactionMisuseException;
import io.github.grpcidempotency.store.spi.StoreTransaction;
import io.github.grpcidempotency.testing.PostgresFixture;
import jakarta.transaction.Status;
import jakarta.transaction.Transaction;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
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

  private final List<Completion> completions = new ArrayList<>();

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
    HostTransaction.Begun transaction = transactions.begin("test");

    assertThat(transaction.connection().getAutoCommit()).isFalse();
    assertThat(transaction.connection()).isSameAs(transaction.connection());
    assertThat(transactions.current().orElseThrow().connection())
        .isSameAs(transaction.connection());
    assertThat(host.pool.getMetrics().activeCount()).isOne();
    host.execute("INSERT INTO parents VALUES (1)");
    assertThat(host.pool.getMetrics().activeCount()).isOne();

    transaction.rollback();
    assertThat(parents()).isZero();
  }

  @Test
  void theRollbackOfAHandlersOwnTransactionIsReported() throws Exception {
    assertThatThrownBy(
            () ->
                host.required(
                    () -> {
                      HostTransaction transaction = transactions.current().orElseThrow();
                      transaction.afterCompletion(completions::add);
                      transaction.beforeCommit(() -> completions.add(Completion.UNKNOWN));
                      host.execute("INSERT INTO parents VALUES (1)");
                      throw new IllegalArgumentException();
                    }))
        .isInstanceOf(IllegalArgumentException.class);

    assertThat(completions).containsExactly(Completion.ROLLED_BACK);
    assertThat(parents()).isZero();
  }

  @Test
  void aThreadWithoutATransactionHasNoCurrentOne() {
    assertThat(transactions.current()).isEmpty();
  }

  @Test
  void aTransactionThatTheThreadHasIsSuspendedUntilTheClaimsHasEnded() throws Exception {
    host.required(
        () -> {
          host.execute("INSERT INTO parents VALUES (1)");
          HostTransaction.Begun transaction = transactions.begin("test");
          host.execute("INSERT INTO parents VALUES (2)");
          transaction.rollback();

          transaction = transactions.begin("test");
          host.execute("INSERT INTO parents VALUES (3)");
          assertThat(transaction.commit()).isEqualTo(Completion.COMMITTED);
          assertThat(parents()).isOne();
        });

    assertThat(parents()).isEqualTo(2);
  }

  @Test
  void aTransactionThatAHandlerSetsToRollBackDoesSo() throws Exception {
    HostTransaction.Begun transaction = transactions.begin("test");
    transaction.afterCompletion(completions::add);
    host.execute("INSERT INTO parents VALUES (1)");
    host.manager.setRollbackOnly();
    transaction.beforeCommit(() -> completions.add(Completion.COMMITTED));

    assertThat(transaction.commit()).isEqualTo(Completion.ROLLED_BACK);
    assertThat(completions).containsExactly(Completion.ROLLED_BACK);
    assertThat(parents()).isZero();
  }

  @Test
  void nothingIsRecordedInATransactionThatIsSetToRollBack() {
    assertThatThrownBy(
            () ->
                host.required(
                    () -> {
                      host.manager.setRollbackOnly();
                      transactions.current().orElseThrow().beforeCommit(() -> {});
                    }))
        .hasMessageContaining("is marked for rollback");
  }

  @Test
  void aLateFlushThatFailsIsReportedWithItsCause() throws Exception {
    HostTransaction.Begun transaction = transactions.begin("test");
    host.execute("INSERT INTO parents VALUES (1)");
    transaction.beforeCommit(() -> completions.add(Completion.COMMITTED));
    host.executeLate("INSERT INTO children VALUES (2)");

    assertThatThrownBy(transaction::commit)
        .rootCause()
        .isInstanceOfSatisfying(
            SQLException.class, cause -> assertThat(cause.getSQLState()).isEqualTo("23503"));
    assertThat(completions).isEmpty();
    assertThat(parents()).isZero();
  }

  @ParameterizedTest
  @ValueSource(classes = {IllegalStateException.class, NoSuchMethodError.class})
  void lastWorkThatFailsRollsBackAndIsReportedUnchanged(Class<? extends Throwable> kind)
      throws Exception {
    HostTransaction.Begun transaction = transactions.begin("test");
    Throwable failure = kind.getConstructor().newInstance();
    transaction.afterCompletion(completions::add);
    host.execute("INSERT INTO parents VALUES (1)");
    transaction.beforeCommit(
        () -> {
          Throwables.throwIfUnchecked(failure);
        });

    assertThatThrownBy(transaction::commit).hasCause(failure);
    assertThat(completions).containsExactly(Completion.ROLLED_BACK);
    assertThat(parents()).isZero();
  }

  @Test
  void anErrorWhileATransactionBeginsLeavesNothingOnTheThread() throws Exception {
    TransactionSynchronizationRegistry failing =
        (TransactionSynchronizationRegistry)
            Proxy.newProxyInstance(
                JtaTransactionsTest.class.getClassLoader(),
                new Class<?>[] {TransactionSynchronizationRegistry.class},
                (self, method, arguments) -> {
                  if (method.getName().equals("registerInterposedSynchronization")) {
                    throw new NoSuchMethodError();
                  }
                  return method.invoke(host.registry, arguments);
                });
    JtaTransactions beginning = JtaTransactions.of(host.manager, failing, host.pool);

    host.required(
        () -> {
          Transaction outer = host.manager.getTransaction();
          assertThatThrownBy(() -> beginning.begin("test")).isInstanceOf(NoSuchMethodError.class);
          assertThat(host.manager.getTransaction()).isEqualTo(outer);
        });
  }

  @Test
  void aGivenUpHandlerLosesItsConnectionAndItsThreadTheTransaction() throws Exception {
    StoreTransaction begun =
        PostgresIdempotencyStore.builder(host.pool)
            .connections(database.pool())
            .hostTransactions(transactions)
            .build()
            .begin(Optional.empty());
    host.execute("INSERT INTO parents VALUES (1)");

    CompletableFuture.runAsync(begun::close).join();

    assertThatThrownBy(() -> host.execute("INSERT INTO parents VALUES (2)"))
        .hasRootCauseInstanceOf(SQLException.class);
    begun.close();
    assertThat(host.manager.getTransaction()).isNull();
    assertThat(parents()).isZero();
    await().until(() -> host.pool.getMetrics().activeCount() == 0);
  }

  @Test
  void aCommitWhoseAnswerIsLostIsNotReportedAsARollback() throws Exception {
    HostTransaction.Begun transaction = transactions.begin("test");
    transaction.afterCompletion(completions::add);
    host.execute("INSERT INTO parents VALUES (1)");
    int backend = backend(transaction.connection());
    transaction.beforeCommit(
        () -> execute(database.superuser(), "SELECT pg_terminate_backend(" + backend + ", 9000)"));

    assertThatThrownBy(transaction::commit)
        .cause()
        .isInstanceOfSatisfying(
            SQLException.class, cause -> assertThat(cause.getSQLState()).isEqualTo("57P01"));
    assertThat(completions).containsExactly(Completion.UNKNOWN);
  }

  @Test
  void transactionsThatTimedOutAreRolledBackAndLeaveTheirThread() throws Exception {
    host.manager.setTransactionTimeout(1);
    HostTransaction.Begun outer = transactions.begin("test");
    host.execute("INSERT INTO parents VALUES (1)");
    HostTransaction.Begun inner = transactions.begin("test");
    host.execute("INSERT INTO parents VALUES (2)");
    host.manager.setTransactionTimeout(0);
    Transaction timingOut = host.manager.getTransaction();
    await().until(() -> timingOut.getStatus() == Status.STATUS_ROLLEDBACK);

    inner.rollback();
    assertThat(outer.commit()).isEqualTo(Completion.ROLLED_BACK);
    assertThat(parents()).isZero();
  }

  @Test
  void aHandlerThatCommitsTheClaimsTransactionIsFound() throws Exception {
    HostTransaction.Begun transaction = transactions.begin("test");
    host.manager.commit();

    assertThatThrownBy(transaction::commit).isInstanceOf(TransactionMisuseException.class);
  }

  @Test
  void aTransactionThatAHandlerLeavesOpenEndsWithTheClaims() throws Exception {
    HostTransaction.Begun transaction = transactions.begin("test");
    host.execute("INSERT INTO parents VALUES (1)");
    host.manager.suspend();
    host.manager.begin();
    host.execute("INSERT INTO parents VALUES (2)");

    assertThatThrownBy(transaction::commit).isInstanceOf(TransactionMisuseException.class);
    assertThat(parents()).isZero();
  }

  @Test
  void aSuspensionOfTheClaimsTransactionIsReportedIfTheHostReportsIt() throws Exception {
    HostTransaction.Begun transaction = transactions.begin("test");
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
    HostTransaction.Begun transaction = unenlisted.begin("test");

    assertThatThrownBy(transaction::connection)
        .hasMessageContaining("does not enlist its connections");
    transaction.rollback();
  }

  private static int parents() throws SQLException {
    return count("parents");
  }

  private static int count(String table) throws SQLException {
    try (Connection connection = database.superuser().getConnection()) {
      return number(connection, "SELECT count(*) FROM " + table);
    }
  }

  private static int backend(Connection connection) throws SQLException {
    return number(connection, "SELECT pg_backend_pid()");
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
