package io.github.grpcidempotency.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.google.common.util.concurrent.Uninterruptibles;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.event.UnprotectedEvent;
import io.github.grpcidempotency.test.MistakeTable;
import io.github.grpcidempotency.testing.PostgresFixture;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingHandler;
import io.grpc.Status;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.support.TransactionTemplate;

/** Handlers of transactional procedures, which write by Spring's means and know nothing of it. */
@ParameterizedClass
@MethodSource("rows")
class TransactionalHandlersTest extends SpringServerTest {
  @RegisterExtension static final PostgresFixture database = ThingDatabase.MIGRATED.create();

  static List<Arguments> rows() {
    return List.of(
        Arguments.of(Host.Kind.JDBC, Way.BEFORE_HANDLER),
        Arguments.of(Host.Kind.JPA, Way.AT_COMMIT));
  }

  TransactionalHandlersTest(Host.Kind kind, Way way) {
    super(kind, way, database);
    server.journal().clear();
  }

  @Test
  void effectAndRecordAreOneCommitAndARetryIsReplayed() {
    for (Consumer<Runnable> way : waysToWrite()) {
      ThingClient caller = server.newClient();
      int runs = server.runs();
      server.create(thing -> way.accept(() -> server.insert(thing)));

      Reply first = caller.createThing(REQUEST);
      Reply retried = caller.createThing(REQUEST);

      assertThat(first.isOk()).as(first.toString()).isTrue();
      assertThat(first.isReplay()).isFalse();
      assertThat(retried.isReplay()).isTrue();
      assertThat(retried.bytes()).isEqualTo(first.bytes());
      assertThat(server.runs()).isEqualTo(runs + 1 + rolledBack(1));
      assertThat(ThingDatabase.joined(database, caller.user())).isEqualTo(1);
      assertThat(unprotected()).isEmpty();
    }
  }

  /** Nothing can undo the commit; the client gets an error, and the log has a line. */
  @Test
  void aHandlerThatCommitsGetsAnError() {
    assumeThat(way).as("the claim's transaction is known").isEqualTo(Way.BEFORE_HANDLER);
    server.create(
        thing -> {
          server.insert(thing);
          host.note("committed");
          host.jdbc().execute("COMMIT");
        });

    Reply reply = client.createThing(REQUEST);

    assertThat(ThingDatabase.notes(database)).containsExactly("committed");
    MistakeTable.under("In Spring's transactions")
        .of("aHandlerCommits")
        .isFoundByTheClient(
            "%s: %s".formatted(reply.status().getCode(), reply.status().getDescription()));
  }

  /** Its name is taken, and the call must not answer that. */
  @Test
  void aHandlerThatFailsBecauseAnotherServerWasQuickerIsReplayed() {
    assumeThat(way).isEqualTo(Way.AT_COMMIT);
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch open = new CountDownLatch(1);
    server.create(
        thing -> {
          begun.countDown();
          Uninterruptibles.awaitUninterruptibly(open);
          host.propagations().required(() -> host.takeName("taken"));
          server.insert(thing);
        });
    try (HikariDataSource pool = database.newPool(5);
        Host otherHost = Host.of(kind, pool);
        SpringServer other = SpringServer.start(otherHost, way)) {
      other.create(
          thing -> {
            otherHost.takeName("taken");
            other.insert(thing);
          });
      CompletableFuture<Reply> slow = client.startThing(REQUEST);
      Uninterruptibles.awaitUninterruptibly(begun);
      Reply quick = other.newClient().like(client).createThing(REQUEST);
      open.countDown();

      assertThat(quick.isOk()).as(quick.toString()).isTrue();
      assertThat(slow.join().isReplay()).as(slow.join().toString()).isTrue();
      assertThat(slow.join().bytes()).isEqualTo(quick.bytes());
      assertThat(ThingDatabase.thingsOf(database, client.user())).containsExactly(quick.thingId());
    } finally {
      open.countDown();
    }
  }

  @Test
  void aStricterIsolationIsRefusedUnlessItsTransactionIsAnother() {
    assertThatNothingIsLeft(
        ThingHandler.creating(
            thing -> {
              server.insert(thing);
              host.propagations().serializable(() -> host.note("never"));
            }),
        Status.Code.UNKNOWN);
    server.create(
        thing -> {
          server.insert(thing);
          assertThatThrownBy(() -> host.propagations().serializable(() -> {}))
              .hasMessageStartingWith(
                  "Propagations.serializable: its @Transactional has an isolation")
              .hasMessageContaining("set the isolation of the pool instead");
        });
    assertThat(server.newClient().createThing(REQUEST).isOk()).isFalse();

    server.create(
        thing -> {
          host.propagations().readCommitted(() -> server.insert(thing));
          host.propagations()
              .serializableOfItsOwn(
                  () ->
                      assertThat(
                              host.jdbc()
                                  .queryForObject("SHOW transaction_isolation", String.class))
                          .isEqualTo("serializable"));
        });
    assertThat(client.createThing(REQUEST).isOk()).isTrue();
    assertThat(ThingDatabase.notes(database)).isEmpty();
  }

  @Test
  void theTimeoutOfAMethodThatJoinsLimitsStatementsAndTheCommit() {
    assertThatNothingIsLeft(
        ThingHandler.creating(
            thing -> {
              server.insert(thing);
              host.propagations().overdue(() -> host.note("never"));
            }),
        Status.Code.UNKNOWN);
    assertThatNothingIsLeft(
        ThingHandler.creating(
            thing -> {
              server.insert(thing);
              host.propagations().overdue(() -> {});
              host.propagations().patient(() -> {});
            }),
        Status.Code.INTERNAL);

    server.create(thing -> host.propagations().patient(() -> server.insert(thing)));
    assertThat(client.createThing(REQUEST).isOk()).isTrue();
    assertThat(ThingDatabase.notes(database)).isEmpty();
  }

  @Test
  void theTimeoutOfAMethodThatJoinsCountsWithinTheTransactionOfAnotherManager() {
    TransactionTemplate another =
        new TransactionTemplate(
            new DataSourceTransactionManager(new DelegatingDataSource(database.pool())));
    assertThatNothingIsLeft(
        ThingHandler.creating(
            thing -> {
              server.insert(thing);
              another.executeWithoutResult(status -> host.propagations().overdue(() -> {}));
            }),
        Status.Code.INTERNAL);
    server.create(
        thing -> {
          server.insert(thing);
          another.executeWithoutResult(status -> host.propagations().patient(() -> {}));
        });
    assertThat(client.createThing(REQUEST).isOk()).isTrue();
  }

  /** Returns how many handlers run for retries, and are rolled back. */
  private int rolledBack(int retries) {
    return way == Way.AT_COMMIT ? retries : 0;
  }

  /** Without an annotation, and with it. */
  private List<Consumer<Runnable>> waysToWrite() {
    return List.of(Runnable::run, host.propagations()::required);
  }

  /** Makes a call that fails, and then a retry that must run, and succeed. */
  private void assertThatNothingIsLeft(ThingHandler failing, Status.Code code) {
    ThingClient caller = server.newClient();
    server.handle(failing);
    Reply failed = caller.createThing(REQUEST);
    assertThat(failed.status().getCode()).as(failed.toString()).isEqualTo(code);
    assertThat(ThingDatabase.thingsOf(database, caller.user())).isEmpty();
    assertThat(ThingDatabase.records(database, caller.user())).isZero();

    server.create(server::insert);
    Reply retried = caller.createThing(REQUEST);
    assertThat(retried.isOk()).as(retried.toString()).isTrue();
    assertThat(retried.isReplay()).isFalse();
    assertThat(ThingDatabase.thingsOf(database, caller.user())).containsExactly(retried.thingId());
  }

  private List<UnprotectedCause> unprotected() {
    return server.journal().all(Kind.UNPROTECTED, UnprotectedEvent.class).stream()
        .map(UnprotectedEvent::cause)
        .toList();
  }
}
