package io.github.grpcidempotency.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.postgres.TransactionalCompletion;
import io.github.grpcidempotency.test.MistakeTable;
import io.github.grpcidempotency.testing.PostgresFixture;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Status;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Handlers of reserved procedures that record their answer in a Spring transaction of their own.
 */
@ParameterizedClass
@MethodSource("rows")
class JoinedCompletionTest extends SpringServerTest {
  @RegisterExtension static final PostgresFixture database = ThingDatabase.MIGRATED.create();

  private final TransactionTemplate template;

  static List<Arguments> rows() {
    return List.of(
        Arguments.of(Host.Kind.JDBC, Way.RESERVED), Arguments.of(Host.Kind.JPA, Way.RESERVED));
  }

  JoinedCompletionTest(Host.Kind kind, Way way) {
    super(kind, way, database);
    this.template = new TransactionTemplate(host.manager());
  }

  @Test
  void effectAndRecordAreOneCommitAndARetryIsReplayed() {
    for (Consumer<Runnable> way : transactions()) {
      ThingClient caller = server.newClient();
      int runs = server.runs();
      server.create(thing -> way.accept(() -> insertAndComplete(thing)));

      Reply first = caller.createThing(REQUEST);
      Reply retried = caller.createThing(REQUEST);

      assertThat(first.isOk()).as(first.toString()).isTrue();
      assertThat(retried.isReplay()).isTrue();
      assertThat(retried.bytes()).isEqualTo(first.bytes());
      assertThat(server.runs()).isEqualTo(runs + 1);
      assertThat(ThingDatabase.joined(database, caller.user())).isEqualTo(1);
    }
  }

  @Test
  void anErrorWhoseTransactionIsCommittedKeepsTheKeyAndIsReported() {
    server.journal().clear();
    server.handle(
        annotated(
            (request, answer) -> {
              asCaller();
              server.insert(ThingHandler.newThing(request));
              answer.onError(Status.UNAVAILABLE.asRuntimeException());
            }));

    Reply failed = client.createThing(REQUEST);
    Reply retried = client.createThing(REQUEST);

    assertThat(failed.status().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
    assertThat(retried.reason()).isEqualTo("IDEMPOTENCY_OUTCOME_UNKNOWN");
    assertThat(ThingDatabase.thingsOf(database, client.user())).hasSize(1);
    UnprotectedCause cause = server.journal().only(IdempotencyEvent.Unprotected.class).cause();
    assertThat(cause).isEqualTo(UnprotectedCause.COMMITTED_WITH_ERROR);
    MistakeTable.under("In Spring's transactions")
        .of("aReservedHandlerAnswersWithAnErrorAndCommits")
        .isFoundInTheLog(List.of("CreateThing: a call is not protected: " + cause.words()));
  }

  /** By hand, and by an annotation. */
  private List<Consumer<Runnable>> transactions() {
    return List.of(
        work -> template.executeWithoutResult(own -> work.run()), host.propagations()::required);
  }

  /** Returns a gRPC method that is itself annotated. */
  private ThingHandler annotated(ThingHandler method) {
    return (request, answer) -> host.propagations().required(() -> method.create(request, answer));
  }

  private void insertAndComplete(Thing thing) {
    asCaller();
    server.insert(thing);
    TransactionalCompletion.complete(thing);
  }

  private void asCaller() {
    asCaller(host);
  }

  private static void asCaller(Host host) {
    host.jdbc()
        .queryForObject(
            "SELECT set_config('app.current_user_id', ?, true)",
            String.class,
            ThingServer.caller().userId().toString());
  }
}
