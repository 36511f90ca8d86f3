package io.github.grpcidempotency.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.base.Throwables;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.postgres.spi.HostTransaction;
import io.github.grpcidempotency.postgres.spi.HostTransaction.Completion;
import io.github.grpcidempotency.spi.Claim.Settled;
import io.github.grpcidempotency.spi.StoreTransaction;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.testing.PostgresFixture;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.orm.jpa.DefaultJpaDialect;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.TransactionTimedOutException;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

@ParameterizedClass
@EnumSource(names = {"JDBC", "DATA_SOURCE", "JPA"})
class SpringTransactionsTest {
  @RegisterExtension static final PostgresFixture database = ThingDatabase.MIGRATED.create();

  private static final UUID USER = UUID.randomUUID();
  private static final Map<Host.Kind, Host> HOSTS = new EnumMap<>(Host.Kind.class);

  private final Host.Kind kind;
  private final Host host;
  private final SpringTransactions transactions;
  private final TransactionTemplate template;
  private final UUID id = UUID.randomUUID();
  private final List<String> story = new ArrayList<>();

  SpringTransactionsTest(Host.Kind kind) {
    this.kind = kind;
    this.host = HOSTS.computeIfAbsent(kind, first -> Host.of(first, database.pool()));
    this.transactions = host.transactions();
    this.template = new TransactionTemplate(host.manager());
  }

  @AfterParameterizedClassInvocation
  static void closeHosts() {
    HOSTS.values().forEach(Host::close);
    HOSTS.clear();
  }

  @AfterEach
  void nothingIsLeftOnTheThreadOrTakenFromThePool() {
    assertThat(TransactionSynchronizationManager.isActualTransactionActive()).isFalse();
    assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
    assertThat(database.pool().getHikariPoolMXBean().getActiveConnections()).isZero();
    AbstractPlatformTransactionManager manager = host.manager();
    manager.setGlobalRollbackOnParticipationFailure(true);
    manager.setValidateExistingTransaction(false);
    manager.setTransactionSynchronization(
        AbstractPlatformTransactionManager.SYNCHRONIZATION_ALWAYS);
  }

  @Test
  void aTransactionIsTheCurrentOneUntilItIsCommitted() {
    HostTransaction begun = transactions.begin("shop.Orders/Create");

    assertThat(TransactionSynchronizationManager.getCurrentTransactionName())
        .isEqualTo("shop.Orders/Create");
    host.note("joined");
    assertThat(backend(begun)).isEqualTo(backend());
    assertThat(ThingDatabase.notes(database)).isEmpty();
    assertThat(commit(begun)).isEqualTo(Completion.COMMITTED);
    assertThat(ThingDatabase.notes(database)).containsExactly("joined");
  }

  @Test
  void aTransactionThatTheThreadHasWaitsUntilTheNewOneHasEnded() {
    template.executeWithoutResult(
        outer -> {
          int backend = backend();
          HostTransaction begun = transactions.begin("any");
          assertThat(backend(begun)).isNotEqualTo(backend);
          begun.rollback();
          host.note("outer");
          assertThat(backend()).isEqualTo(backend);
        });

    assertThat(ThingDatabase.notes(database)).containsExactly("outer");
  }

  @Test
  void workRunsAfterTheHostsDeferredChanges() {
    HostTransaction begun = transactions.begin("any");
    asUser();
    host.insert(id, "late");
    onBeforeCommit(() -> story.add("the host's own"));

    assertThat(begun.commit(() -> story.add("thing seen: " + isSeenBy(begun))))
        .isEqualTo(Completion.COMMITTED);

    assertThat(story).containsExactly("the host's own", "thing seen: true");
    assertThat(ThingDatabase.thingsOf(database, USER)).containsExactly(id);
  }

  @Test
  void workThatFailsRollsBack() {
    HostTransaction begun = transactions.begin("any");
    IllegalArgumentException failure = new IllegalArgumentException("on purpose");
    host.note("joined");

    assertThatThrownBy(() -> begun.commit(() -> raise(failure))).isSameAs(failure);
    begun.rollback();

    assertThat(ThingDatabase.notes(database)).isEmpty();
  }

  @Test
  void aRefusalAtTheFlushOrTheCommitRollsBackWithItsReason() {
    for (String name : List.of("bad", "twice")) {
      HostTransaction begun = transactions.begin("any");
      asUser();
      assertThatThrownBy(
              () -> {
                host.insert(UUID.randomUUID(), name);
                host.insert(UUID.randomUUID(), name);
                commit(begun);
              })
          .hasRootCauseInstanceOf(SQLException.class);
      begun.rollback();
    }

    assertThat(ThingDatabase.thingsOf(database, USER)).isEmpty();
  }

  @Test
  void aParticipantSetsItToRollbackOnly() {
    HostTransaction begun = transactions.begin("any");
    host.propagations()
        .required(
            () -> {
              host.note("joined");
              TransactionAspectSupport.currentTransactionStatus().setRollbackOnly();
            });

    assertThat(commit(begun)).isEqualTo(Completion.ROLLED_BACK);

    assertThat(ThingDatabase.notes(database)).isEmpty();
    assertThat(story).isEmpty();
  }

  /** A manager for JDBC commits all the same, and reports a rollback. */
  @Test
  void aCallbackSetsItToRollbackOnlyAfterTheRecord() {
    HostTransaction begun = transactions.begin("any");
    host.note("joined");
    TransactionSynchronizationManager.registerSynchronization(
        new TransactionSynchronization() {
          @Override
          public void beforeCompletion() {
            template.executeWithoutResult(TransactionStatus::setRollbackOnly);
          }
        });

    assertThat(commit(begun)).isEqualTo(Completion.ROLLED_BACK);

    assertThat(ThingDatabase.notes(database)).isEmpty();
  }

  @Test
  void aParticipantWhoseFailureIsCaughtSetsTheTransactionToRollbackOnlyByDefault() {
    for (boolean global : List.of(true, false)) {
      host.manager().setGlobalRollbackOnParticipationFailure(global);
      HostTransaction begun = transactions.begin("any");
      assertThatThrownBy(() -> host.propagations().required(SpringTransactionsTest::fail))
          .isInstanceOf(IllegalArgumentException.class);
      assertThat(commit(begun)).isEqualTo(global ? Completion.ROLLED_BACK : Completion.COMMITTED);
    }
  }

  /** A manager for JDBC commits then as it gives the connection back; one for JPA loses it. */
  @Test
  void nothingIsCommittedIfACallbackBeforeTheCommitThrowsATransactionException() {
    try (HikariDataSource pool = database.newPool(2);
        Host failing = Host.of(kind, pool)) {
      for (RuntimeException failure :
          List.of(
              new TransactionTimedOutException("any"), new UnexpectedRollbackException("any"))) {
        HostTransaction begun = failing.transactions().begin("any");
        failing.note("joined");
        onBeforeCommit(() -> raise(failure));

        try {
          assertThat(commit(begun)).isEqualTo(Completion.ROLLED_BACK);
          assertThat(failure).isInstanceOf(UnexpectedRollbackException.class);
        } catch (TransactionTimedOutException thrown) {
          assertThat(thrown).isSameAs(failure);
        }
        begun.rollback();
      }
    }

    assertThat(ThingDatabase.notes(database)).isEmpty();
    assertThat(story).isEmpty();
  }

  @Test
  void aFailureAfterTheCommitDoesNotUndoTheCommit() {
    for (Throwable failure :
        List.of(
            new IllegalArgumentException("any"),
            new UnexpectedRollbackException("any"),
            new NoSuchMethodError("any"))) {
      HostTransaction begun = transactions.begin("any");
      host.note("joined");
      TransactionSynchronizationManager.registerSynchronization(
          new TransactionSynchronization() {
            @Override
            public void afterCommit() {
              raise(failure);
            }
          });

      assertThat(commit(begun)).isEqualTo(Completion.COMMITTED);
    }
    assertThat(ThingDatabase.notes(database)).containsExactly("joined", "joined", "joined");
  }

  @Test
  void anErrorOfACallbackBeforeTheCommitRollsBackAndLeavesNothingOnTheThread() {
    StoreTransaction begun = storeOn(transactions).begin(Optional.empty());
    host.note("joined");
    onBeforeCommit(() -> raise(new NoSuchMethodError("any")));

    assertThat(begun.commit()).isEqualTo(Settled.ROLLED_BACK);

    assertThat(ThingDatabase.notes(database)).isEmpty();
  }

  @Test
  void aGivenUpHandlerLosesItsConnectionAndItsThreadTheTransaction() {
    StoreTransaction begun = storeOn(transactions).begin(Optional.empty());
    host.note("lost");

    CompletableFuture.runAsync(begun::close).join();

    assertThatThrownBy(() -> host.note("late")).isInstanceOf(DataAccessException.class);
    begun.close();
    host.note("next");
    assertThat(ThingDatabase.notes(database)).containsExactly("next");
  }

  private static PostgresIdempotencyStore storeOn(SpringTransactions transactions) {
    return PostgresIdempotencyStore.builder(database.pool()).hostTransactions(transactions).build();
  }

  @Test
  void aSuspensionOfTheTransactionIsReported() {
    Propagations propagations = host.propagations();
    Map<Consumer<Runnable>, Boolean> suspending =
        Map.of(
            propagations::required, false,
            propagations::readOnly, false,
            propagations::requiresNew, true,
            propagations::notSupported, true);

    suspending.forEach(
        (propagation, expected) -> {
          HostTransaction begun = transactions.begin("any");
          assertThat(begun.wasSuspended()).isFalse();
          propagation.accept(() -> {});
          assertThat(begun.wasSuspended()).isEqualTo(expected);
          begun.rollback();
        });
  }

  @Test
  void theClaimIsNotCommittedWhileTheHandlersOwnTransactionIsOpen() throws Exception {
    try (HikariDataSource pool = database.newPool(2);
        Host leaky = Host.of(kind, pool)) {
      HostTransaction begun = leaky.transactions().begin("any");
      leaky.note("joined");
      TransactionStatus leftOpen =
          leaky
              .manager()
              .getTransaction(
                  new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_REQUIRES_NEW));
      assertThat(leftOpen.isNewTransaction()).isTrue();

      assertThatThrownBy(() -> commit(begun))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("left a transaction of its own open");
      begun.rollback();
    }

    assertThat(ThingDatabase.notes(database)).isEmpty();
    assertThat(story).isEmpty();
  }

  @Test
  void onlyItsOwnThreadCommitsATransaction() {
    HostTransaction begun = transactions.begin("any");
    host.note("joined");

    CompletableFuture.runAsync(
            () ->
                assertThatThrownBy(() -> commit(begun))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("another thread"))
        .join();

    assertThat(commit(begun)).isEqualTo(Completion.COMMITTED);
    assertThat(ThingDatabase.notes(database)).containsExactly("joined");
  }

  @Test
  void aConnectionThatBreaksAtTheCommitLeavesAnUnknownOutcome() {
    HostTransaction begun = transactions.begin("any");
    host.note("joined");

    assertThatThrownBy(() -> begun.commit(() -> kill(backend(begun))))
        .rootCause()
        .isInstanceOf(SQLException.class);
    begun.rollback();
  }

  @Test
  void withoutATransactionThereIsNoCurrentOne() {
    assertThat(transactions.isActive()).isFalse();
    template.executeWithoutResult(
        outer -> {
          assertThat(transactions.isActive()).isTrue();
          host.propagations().notSupported(() -> assertThat(transactions.isActive()).isFalse());
        });
    template.setPropagationBehavior(TransactionDefinition.PROPAGATION_SUPPORTS);
    template.executeWithoutResult(none -> assertThat(transactions.isActive()).isFalse());
  }

  @Test
  void aMethodWithATimeoutThatJoinsNothingRuns() {
    host.manager()
        .setTransactionSynchronization(
            AbstractPlatformTransactionManager.SYNCHRONIZATION_ON_ACTUAL_TRANSACTION);

    host.propagations().supports(() -> story.add("ran"));

    assertThat(story).containsExactly("ran");
  }

  @Test
  void anotherManagersTransactionIsNotCurrent() {
    DataSourceTransactionManager other = new DataSourceTransactionManager(database.owner());

    new TransactionTemplate(other)
        .executeWithoutResult(status -> assertThat(transactions.isActive()).isFalse());
  }

  @Test
  void whoeverCommitsATransactionThatIsMarkedForRollbackGetsAnException() {
    host.manager().setValidateExistingTransaction(true);
    for (boolean readOnly : List.of(false, true)) {
      template.setReadOnly(readOnly);
      assertThatThrownBy(
              () ->
                  template.executeWithoutResult(
                      outer -> {
                        if (!readOnly) {
                          host.note("joined");
                        }
                        host.propagations().readOnly(transactions::setRollbackOnly);
                      }))
          .isInstanceOf(UnexpectedRollbackException.class);
    }

    assertThat(ThingDatabase.notes(database)).isEmpty();
  }

  @Test
  void aReadOnlyParticipantDoesNotMakeAClaimReadOnly() {
    HostTransaction begun = transactions.begin("any");
    asUser();
    host.propagations().readOnly(() -> host.insert(id, "any"));

    assertThat(commit(begun)).isEqualTo(Completion.COMMITTED);
    assertThat(ThingDatabase.thingsOf(database, USER)).containsExactly(id);
  }

  @Test
  void aTransactionThatACallbackBeforeTheCommitMarksIsRolledBack() {
    assertThatThrownBy(
            () ->
                template.executeWithoutResult(
                    outer -> {
                      host.note("joined");
                      onBeforeCommit(transactions::setRollbackOnly);
                    }))
        .isInstanceOf(TransactionException.class);

    assertThat(ThingDatabase.notes(database)).isEmpty();
  }

  @Test
  void aManagerOfAnotherDataSourceIsRefused() {
    assertRefused(SpringTransactions.of(host.manager(), database.owner()));
  }

  @Test
  void aManagerWithoutSynchronizationIsRefused() {
    AbstractPlatformTransactionManager manager = host.manager();
    manager.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);

    assertThatThrownBy(() -> transactions.begin("any"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("synchronization is not active");
  }

  @Test
  void aManagerThatHidesItsDataSourceIsCheckedAtItsFirstTransaction() {
    PlatformTransactionManager other =
        new DataSourceTransactionManager(new DelegatingDataSource(database.pool()));
    SpringTransactions mixed =
        SpringTransactions.of(
            new PlatformTransactionManager() {
              @Override
              public TransactionStatus getTransaction(@Nullable TransactionDefinition definition) {
                return other.getTransaction(definition);
              }

              @Override
              public void commit(TransactionStatus status) {
                other.commit(status);
              }

              @Override
              public void rollback(TransactionStatus status) {
                other.rollback(status);
              }
            },
            database.pool());

    assertThatThrownBy(() -> storeOn(mixed).begin(Optional.empty()))
        .isInstanceOf(StoreException.class)
        .hasStackTraceContaining("autocommit mode");
  }

  @Test
  void aManagerForJpaThatDoesNotExposeItsConnectionIsRefused() {
    LocalContainerEntityManagerFactoryBean factory = Host.entityManagerFactory(database.pool());
    factory.afterPropertiesSet();
    JpaTransactionManager manager = new JpaTransactionManager();
    manager.setEntityManagerFactory(factory.getNativeEntityManagerFactory());
    manager.setJpaDialect(new DefaultJpaDialect());
    manager.setDataSource(database.pool());
    assertRefused(SpringTransactions.of(manager, database.pool()));
    factory.destroy();
  }

  private static void assertRefused(SpringTransactions transactions) {
    assertThatThrownBy(() -> transactions.begin("any"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("do not use a connection of the data source")
        .hasMessageContaining("a manager for JPA also needs a JpaDialect");
  }

  @Test
  void aTransactionAwareProxyStandsForItsTarget() throws Exception {
    TransactionAwareDataSourceProxy proxy = new TransactionAwareDataSourceProxy(database.pool());
    SpringTransactions proxied = SpringTransactions.of(host.manager(), proxy);
    HostTransaction begun = proxied.begin("any");

    try (Connection joined = proxy.getConnection()) {
      new JdbcTemplate(new SingleConnectionDataSource(joined, true))
          .update("INSERT INTO app.notes (text) VALUES ('joined')");
    }
    assertThat(ThingDatabase.notes(database)).isEmpty();
    commit(begun);

    assertThat(ThingDatabase.notes(database)).containsExactly("joined");
  }

  @Test
  void otherWrappersOfThePoolAreAccepted() {
    AbstractRoutingDataSource routing =
        new AbstractRoutingDataSource() {
          @Override
          protected Object determineCurrentLookupKey() {
            return "the only one";
          }
        };
    routing.setTargetDataSources(Map.of("the only one", database.pool()));
    routing.afterPropertiesSet();
    LazyConnectionDataSourceProxy lazy = new LazyConnectionDataSourceProxy();
    lazy.setTargetDataSource(database.pool());
    lazy.setDefaultAutoCommit(true);
    for (DataSource front : List.of(routing, lazy)) {
      try (Host other = Host.of(kind, front)) {
        HostTransaction begun = other.transactions().begin("any");
        other.note(front.getClass().getSimpleName());
        assertThat(backend(begun)).isPositive();
        assertThat(commit(begun)).isEqualTo(Completion.COMMITTED);
      }
    }

    assertThat(ThingDatabase.notes(database)).hasSize(2);
  }

  /** Commits, as the store does, after the begun transaction's last work. */
  private Completion commit(HostTransaction begun) {
    return begun.commit(() -> story.add("record"));
  }

  private void asUser() {
    host.jdbc()
        .queryForObject(
            "SELECT set_config('app.current_user_id', ?, true)", String.class, USER.toString());
  }

  private boolean isSeenBy(HostTransaction transaction) {
    try (var statement = transaction.connection().createStatement();
        var rows = statement.executeQuery("SELECT 1 FROM app.things WHERE name = 'late'")) {
      return rows.next();
    } catch (SQLException failure) {
      throw new IllegalStateException(failure);
    }
  }

  private int backend() {
    Integer found = host.jdbc().queryForObject("SELECT pg_backend_pid()", Integer.class);
    return found == null ? 0 : found;
  }

  private static int backend(HostTransaction transaction) {
    try (var statement = transaction.connection().createStatement();
        var rows = statement.executeQuery("SELECT pg_backend_pid()")) {
      assertThat(rows.next()).isTrue();
      return rows.getInt(1);
    } catch (SQLException failure) {
      throw new IllegalStateException(failure);
    }
  }

  private static void kill(int backend) {
    new JdbcTemplate(database.superuser())
        .queryForObject("SELECT pg_terminate_backend(?, 10000)", Boolean.class, backend);
  }

  private static void onBeforeCommit(Runnable action) {
    TransactionSynchronizationManager.registerSynchronization(
        new TransactionSynchronization() {
          @Override
          public void beforeCommit(boolean readOnly) {
            action.run();
          }
        });
  }

  private static void fail() {
    throw new IllegalArgumentException("on purpose");
  }

  private static void raise(Throwable failure) {
    Throwables.throwIfUnchecked(failure);
    throw new AssertionError(failure);
  }
}
