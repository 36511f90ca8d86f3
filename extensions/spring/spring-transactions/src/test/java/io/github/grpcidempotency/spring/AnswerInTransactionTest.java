package io.github.grpcidempotency.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.test.MistakeTable;
import io.github.grpcidempotency.testing.PostgresFixture;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Reserved procedures whose gRPC method is itself {@code @Transactional}. */
@ParameterizedClass
@EnumSource
class AnswerInTransactionTest extends SpringServerTest {
  @RegisterExtension static final PostgresFixture database = ThingDatabase.MIGRATED.create();

  AnswerInTransactionTest(Host.Kind kind) {
    super(kind, Way.RESERVED, database);
  }

  @Test
  void anAnswerWithinTheTransactionIsNotSentAndTheTransactionIsRolledBack() {
    server.handle(
        annotated(
            (request, answer) -> {
              Thing thing = ThingHandler.newThing(request);
              insert(thing);
              ThingHandler.answer(answer, thing);
            }));

    Reply first = client.createThing(REQUEST);

    assertThat(ThingDatabase.thingsOf(database, client.user())).isEmpty();
    MistakeTable.under("In Spring's transactions")
        .of("aReservedHandlerAnswersWithinItsOpenTransaction")
        .isFoundByTheClient(
            "%s: %s".formatted(first.status().getCode(), first.status().getDescription()));
  }

  @Test
  void anErrorWithinTheTransactionIsSentAndTheTransactionIsRolledBack() {
    server.handle(
        annotated(
            (request, answer) -> {
              insert(ThingHandler.newThing(request));
              answer.onError(Status.UNAVAILABLE.asRuntimeException());
            }));

    for (int call = 1; call <= 2; call++) {
      Reply failed = client.createThing(REQUEST);
      assertThat(failed.status().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
      assertThat(failed.reason()).isEmpty();
    }

    assertThat(ThingDatabase.thingsOf(database, client.user())).isEmpty();
  }

  /** Returns a gRPC method that is itself annotated. */
  private ThingHandler annotated(ThingHandler method) {
    return (request, answer) -> host.propagations().required(() -> method.create(request, answer));
  }

  private void insert(Thing thing) {
    host.jdbc()
        .queryForObject(
            "SELECT set_config('app.current_user_id', ?, true)",
            String.class,
            ThingServer.caller().userId().toString());
    server.insert(thing);
  }
}
