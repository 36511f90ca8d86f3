package io.github.grpcidempotency.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.google.common.base.Throwables;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.postgres.HostTransaction;
import io.github.grpcidempotency.postgres.HostTransaction.Completion;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.store.spi.Claim.Settled;
import io.github.grpcidempotency.store.spi.StoreTransaction;
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
    HostTransaction.Begun begun = transactions.begin("shop.Orders/Create");

    assertThat(TransactionSynchronizationManager.getCurrentTransactionName())
        .isEqualTo("shop.Orders/Create");
    host.note("joined");
    assertThat(backend(begun)).isEqualTo(backend());
    assertThat(ThingDatabase.notes(database)).isEmpty();
    assertThat(begun.commit()).isEqualTo(Completion.COMMITTED);
    assertThat(ThingDatabase.notes(database)).containsExactly("joined");
  }

  @Test
  void aTransactionThatTheThreadHasWaitsUntilTheNewOneHasEnded() {
    template.executeWithoutResult(
        outer -> {
          int backend = backend();
          HostTransaction.Begun begun = transactions.begin("any");
          assertThat(backend(begun)).isNotEqualTo(backend);
          begun.rollback();
          host.note("outer");
          assertThat(backend()).isEqualTo(backend);
        });

    assertThat(ThingDatabase.notes(database)).containsExactly("outer");
  }

  @Test
  void workRunsAfterTheHostsDeferredChanges() {
    HostTransaction.Begun begun = transactions.begin("any");
    begun.beforeCommit(() -> story.add("thing seen: " + isSeenBy(begun)));
    listen(begun);
    asUser();
    host.insert(id, "late");
    onBeforeCommit(() -> story.add("the host's own"));

    assertThat(begun.commit()).isEqualTo(Completion.COMMITTED);

    assertThat(story).containsExactly("the host's own", "thing seen: true", "COMMITTED");
    assertThat(ThingDatabase.thingsOf(database, USER)).containsExactly(id);
  }

  @Test
  void workThatFailsRollsBack() {
    HostTransaction.Begun begun = transactions.begin("any");
    IllegalArgumentException failure = new IllegalArgumentException("on purpose");
    begun.beforeCommit(
        () -> {
          throw failure;
        });
    listen(begun);
    host.note("joined");

    assertThatThrownBy(begun::commit).isSameAs(failure);
    begun.rollback();

    assertThat(ThingDatabase.notes(database)).isEmpty();
    assertThat(story).containsExactly("ROLLED_BACK");
  }

  @Test
  void aRefusalAtTheFlushOrTheCommitRollsBackWithItsReason() {
    for (String name : List.of("bad", "twice")) {
      HostTransaction.Begun begun = transactions.begin("any");
      asUser();
      assertThatThrownBy(
              () -> {
                host.insert(UUID.randomUUID(), name);
                host.insert(UUID.randomUUID(), name);
                begun.commit();
              })
          .hasRootCauseInstanceOf(SQLException.class);
      begun.rollback();
    }

    assertThat(ThingDatabase.thingsOf(database, USER)).isEmpty();
  }

  @Test
  void aParticipantSetsItToRollbackOnly() {
    HostTransaction.Begun begun = transactions.begin("any");
    begun.beforeCommit(() -> story.add("work"));
    listen(begun);
    host.propagations()
        .required(
            () -> {
              host.note("joined");
              TransactionAspectSupport.currentTransactionStatus().setRollbackOnly();
            });

    assertThat(begun.commit()).isEqualTo(Completion.ROLLED_BACK);

    assertThat(ThingDatabase.notes(database)).isEmpty();
    assertThat(story).containsExactly("ROLLED_BACK");
  }

  @Test
  void aParticipantWhoseFailureIsCaughtSetsTheTransactionToRollbackOnlyByDefault() {
    for (boolean global : List.of(true, false)) {
      host.manager().setGlobalRollbackOnParticipationFailure(global);
      HostTransaction.Begun begun = transactions.begin("any");
      assertThatThrownBy(() -> host.propagations().required(SpringTransactionsTest::fail))
          .isInstanceOf(IllegalArgumentException.class);
      assertThat(begun.commit()).isEqualTo(global ? Completion.ROLLED_BACK : Completion.COMMITTED);
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
        HostTransaction.Begun begun = failing.transactions().begin("any");
        begun.beforeCommit(() -> story.add("work"));
        listen(begun);
        failing.note("joined");
        onBeforeCommit(() -> raise(failure));

        try {
          assertThat(begun.commit()).isEqualTo(Completion.ROLLED_BACK);
          assertThat(failure).isInstanceOf(UnexpectedRollbackException.class);
        } catch (TransactionTimedOutException thrown) {
          assertThat(thrown).isSameAs(failure);
        }
        begun.rollback();
      }
    }

    assertThat(ThingDatabase.notes(database)).isEmpty();
    assertThat(story).containsExactly("ROLLED_BACK", "ROLLED_BACK");
  }

  @Test
  void aFailureAfterTheCommitDoesNotUndoTheCommit() {
    for (Throwable failure :
        List.of(
            new IllegalArgumentException("any"),
            new UnexpectedRollbackException("any"),
            new NoSuchMethodError("any"))) {
      HostTransaction.Begun begun = transactions.begin("any");
      host.note("joined");
      TransactionSynchronizationManager.registerSynchronization(
          new TransactionSynchronization() {
            @Override
            public void afterCommit() {
              raise(failure);
            }
          });

      assertThat(begun.commit()).isEqualTo(Completion.COMMITTED);
    }
    assertThat(ThingDatabase.notes(database)).containsExactly("joined", "joined", "joined");
  }

  @Test
  void anErrorOfACallbackBeforeTheCommitRollsBackAndLeavesNothingOnTheThread() {
    StoreTransaction begun = store().begin(Optional.empty());
    host.note("joined");
    onBeforeCommit(() -> raise(new NoSuchMethodError("any")));

    assertThat(begun.commit()).isEqualTo(Settled.ROLLED_BACK);

    assertThat(ThingDatabase.notes(database)).isEmpty();
  }

  @Test
  void aGivenUpHandlerLosesItsConnectionAndItsThreadTheTransaction() {
    StoreTransaction begun = store().begin(Optional.empty());
    host.note("lost");

    CompletableFuture.runAsync(begun::close).join();

    assertThatThrownBy(() -> host.note("late")).isInstanceOf(DataAccessException.class);
    begun.close();
    host.note("next");
    assertThat(ThingDatabase.notes(database)).containsExactly("next");
  }

  private PostgresIdempotencyStore store() {
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
          HostTransaction.Begun begun = transactions.begin("any");
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
      HostTransaction.Begun begun = leaky.transactions().begin("any");
      begun.beforeCommit(() -> story.add("work"));
      leaky.note("joined");
      TransactionStatus leftOpen =
          leaky
              .manager()
              .getTransaction(
                  new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_REQUIRES_NEW));
      assertThat(leftOpen.isNewTransaction()).isTrue();

      assertThatThrownBy(begun::commit)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("left a transaction of its own open");
    }

    assertThat(ThingDatabase.notes(database)).isEmpty();
    assertThat(story).isEmpty();
  }

  @Test
  void onlyItsOwnThreadEndsATransaction() {
    HostTransaction.Begun begun = transactions.begin("any");
    host.note("joined");

    CompletableFuture.runAsync(
            () -> {
              assertThatThrownBy(begun::commit)
                  .isInstanceOf(IllegalStateException.class)
                  .hasMessageContaining("another thread");
              begun.rollback();
            })
        .join();

    assertThat(begun.commit()).isEqualTo(Completion.COMMITTED);
    assertThat(ThingDatabase.notes(database)).containsExactly("joined");
  }

  @Test
  void aConnectionThatBreaksAtTheCommitLeavesAnUnknownOutcome() {
    HostTransaction.Begun begun = transactions.begin("any");
    listen(begun);
    host.note("joined");
    begun.beforeCommit(() -> kill(backend(begun)));

    assertThatThrownBy(begun::commit).rootCause().isInstanceOf(SQLException.class);
    begun.rollback();

    assertThat(story).containsExactly("UNKNOWN");
  }

  @Test
  void withoutATransactionThereIsNoCurrentOne() {
    assertThat(transactions.current()).isEmpty();
    template.executeWithoutResult(
        outer -> {
          assertThat(transactions.current()).isPresent();
          host.propagations().notSupported(() -> assertThat(transactions.current()).isEmpty());
        });
    template.setPropagationBehavior(TransactionDefinition.PROPAGATION_SUPPORTS);
    template.executeWithoutResult(none -> assertThat(transactions.current()).isEmpty());
  }

  @Test
  void anotherManagersTransactionIsNotCurrent() {
    DataSourceTransactionManager other = new DataSourceTransactionManager(database.owner());

    new TransactionTemplate(other)
        .executeWithoutResult(status -> assertThat(transactions.current()).isEmpty());
  }

  @Test
  void workJoinsTheCurrentTransaction() {
    template.executeWithoutResult(
        outer -> {
          HostTransaction current = transactions.current().orElseThrow();
          assertThat(backend(current)).isEqualTo(backend());
          current.beforeCommit(() -> story.add("thing seen: " + isSeenBy(current)));
          listen(current);
          asUser();
          host.insert(id, "late");
        });

    assertThat(story).containsExactly("thing seen: true", "COMMITTED");
    assertThat(ThingDatabase.thingsOf(database, USER)).containsExactly(id);
  }

  @Test
  void workWithinAParticipantIsDoneAtTheEndOfTheWhole() {
    template.executeWithoutResult(
        outer -> {
          host.propagations().required(this::joinCurrent);
          story.add("participant ended");
        });

    assertThat(story).containsExactly("participant ended", "work", "COMMITTED");
  }

  @Test
  void theCurrentTransactionIsRolledBackByItsOwner() {
    template.executeWithoutResult(
        outer -> {
          joinCurrent();
          outer.setRollbackOnly();
        });
    assertThatThrownBy(
            () ->
                template.executeWithoutResult(
                    outer -> {
                      joinCurrent();
                      fail();
                    }))
        .isInstanceOf(IllegalArgumentException.class);

    assertThat(story).containsExactly("ROLLED_BACK", "ROLLED_BACK");
  }

  @Test
  void workWithinASavepointGoesWithIt() {
    assumeThat(kind).as("Hibernate has none for Spring").isNotEqualTo(Host.Kind.JPA);
    template.executeWithoutResult(
        outer -> {
          assertThatThrownBy(
                  () ->
                      host.propagations()
                          .nested(
                              () -> {
                                joinCurrent();
                                fail();
                              }))
              .isInstanceOf(IllegalArgumentException.class);
          assertThat(story).containsExactly("ROLLED_BACK");
          host.note("outer");
        });

    assertThat(story).containsExactly("ROLLED_BACK");
    assertThat(ThingDatabase.notes(database)).containsExactly("outer");
  }

  @Test
  void aSavepointThatIsSetLaterHasNothingToDoWithIt() {
    assumeThat(kind).as("Hibernate has none for Spring").isNotEqualTo(Host.Kind.JPA);
    template.executeWithoutResult(
        outer -> {
          joinCurrent();
          assertThatThrownBy(() -> host.propagations().nested(SpringTransactionsTest::fail))
              .isInstanceOf(IllegalArgumentException.class);
          host.propagations().nested(() -> host.note("nested"));
        });

    assertThat(story).containsExactly("work", "COMMITTED");
    assertThat(ThingDatabase.notes(database)).containsExactly("nested");
  }

  @Test
  void aReadOnlyTransactionIsJoinedAndNotFlushed() {
    host.manager().setValidateExistingTransaction(true);
    template.setReadOnly(true);

    template.executeWithoutResult(
        outer -> {
          host.entities()
              .ifPresent(entities -> entities.persist(new ThingEntity(id, "never written")));
          joinCurrent();
        });

    assertThat(story).containsExactly("work", "COMMITTED");
    assertThat(ThingDatabase.thingsOf(database, USER)).isEmpty();
  }

  @Test
  void aReadOnlyParticipantDoesNotMakeAClaimReadOnly() {
    HostTransaction.Begun begun = transactions.begin("any");
    asUser();
    host.propagations().readOnly(() -> host.insert(id, "any"));

    assertThat(begun.commit()).isEqualTo(Completion.COMMITTED);
    assertThat(ThingDatabase.thingsOf(database, USER)).containsExactly(id);
  }

  @Test
  void workThatIsRegisteredByWhatRunsBeforeTheCommitIsTooLate() {
    assertThatThrownBy(
            () ->
                template.executeWithoutResult(
                    outer -> {
                      host.note("joined");
                      onBeforeCommit(this::joinCurrent);
                    }))
        .isInstanceOf(TransactionException.class);

    assertThat(ThingDatabase.notes(database)).isEmpty();
    assertThat(story).containsExactly("ROLLED_BACK");
  }

  @Test
  void workThatIsRegisteredAfterTheCommitIsNotTakenForCommitted() {
    template.executeWithoutResult(
        outer ->
            TransactionSynchronizationManager.registerSynchronization(
                new TransactionSynchronization() {
                  @Override
                  public void afterCommit() {
                    joinCurrent();
                  }
                }));

    assertThat(story).containsExactly("UNKNOWN");
  }

  @Test
  void aManagerOfAnotherDataSourceIsRefused() {
    PlatformTransactionManager manager = host.manager();

    assertThatThrownBy(() -> SpringTransactions.of(manager, database.owner()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("manages another data source");
  }

  @Test
  void aManagerWithoutSynchronizationIsRefused() {
    AbstractPlatformTransactionManager manager = host.manager();
    manager.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);

    assertThatThrownBy(() -> SpringTransactions.of(manager, database.pool()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("SYNCHRONIZATION_ALWAYS");
    assertThatThrownBy(() -> transactions.begin("any"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("SYNCHRONIZATION_ALWAYS");
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

    assertThatThrownBy(() -> mixed.begin("any"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("do not use a connection of the data source");
  }

  @Test
  void aManagerForJpaThatDoesNotExposeItsConnectionIsRefused() {
    assertThatThrownBy(() -> SpringTransactions.of(new JpaTransactionManager(), database.pool()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("needs the same data source");

    LocalContainerEntityManagerFactoryBean factory = Host.entityManagerFactory(database.pool());
    factory.afterPropertiesSet();
    JpaTransactionManager manager = new JpaTransactionManager();
    manager.setEntityManagerFactory(factory.getNativeEntityManagerFactory());
    manager.setJpaDialect(new DefaultJpaDialect());
    manager.setDataSource(database.pool());
    SpringTransactions unexposed = SpringTransactions.of(manager, database.pool());
    assertThatThrownBy(() -> unexposed.begin("any"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("needs the same data source, and a JpaDialect");
    factory.destroy();
  }

  @Test
  void aTransactionAwareProxyStandsForItsTarget() throws Exception {
    TransactionAwareDataSourceProxy proxy = new TransactionAwareDataSourceProxy(database.pool());
    SpringTransactions proxied = SpringTransactions.of(host.manager(), proxy);
    HostTransaction.Begun begun = proxied.begin("any");

    try (Connection joined = proxy.getConnection()) {
      new JdbcTemplate(new SingleConnectionDataSource(joined, true))
          .update("INSERT INTO app.notes (text) VALUES ('joined')");
    }
    assertThat(ThingDatabase.notes(database)).isEmpty();
    begun.commit();

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
        HostTransaction.Begun begun = other.transactions().begin("any");
        other.note(front.getClass().getSimpleName());
        assertThat(backend(begun)).isPositive();
        assertThat(begun.commit()).isEqualTo(Completion.COMMITTED);
      }
    }

    assertThat(ThingDatabase.notes(database)).hasSize(2);
  }

  private void joinCurrent() {
    join(transactions);
  }

  private void join(SpringTransactions joined) {
    HostTransaction current = joined.current().orElseThrow();
    listen(current);
    current.beforeCommit(() -> story.add("work"));
  }

  private void listen(HostTransaction transaction) {
    transaction.afterCompletion(completion -> story.add(completion.name()));
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
