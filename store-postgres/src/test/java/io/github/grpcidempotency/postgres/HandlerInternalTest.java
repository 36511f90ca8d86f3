package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.InFlightPolicy;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.work.IdempotentWork;
import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Handlers that deduplicate by themselves, under a token of the request. */
class HandlerInternalTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private final KeyTable table = new KeyTable(database);

  @ParameterizedTest
  @EnumSource
  void everyCallReachesItsHandlerAndTheWorkIsDoneOnce(Execution execution) {
    Procedure kind =
        Procedure.named("things/import")
            .execution(execution)
            .inFlight(InFlightPolicy.attach(Duration.ofMinutes(1)))
            .build();
    try (IdempotentWork leftWork = runner(database.app(), kind);
        IdempotentWork rightWork = runner(database.newAppPool(), kind);
        ThingServer left = server(database.app(), leftWork, kind);
        ThingServer right = server(database.newAppPool(), rightWork, kind);
        ThingClient toLeft = ThingClient.to(left.port());
        ThingClient toRight = ThingClient.to(right.port()).like(toLeft)) {
      CreateThingRequest request =
          Things.named("a thing").toBuilder().setRequestId(UUID.randomUUID().toString()).build();

      List<Reply> replies =
          Stream.of(toLeft, toRight, toLeft.withNewKey(), toRight.withoutKey())
              .map(client -> client.startThing(request))
              .toList()
              .stream()
              .map(CompletableFuture::join)
              .toList();

      assertThat(replies)
          .allSatisfy(
              reply -> {
                assertThat(reply.isOk()).as(reply.toString()).isTrue();
                assertThat(reply.operation()).isEmpty();
                assertThat(reply.thingId()).isEqualTo(replies.get(0).thingId());
              });
      assertThat(left.runs() + right.runs()).isEqualTo(4);
      assertThat(table.thingsOf(toLeft.user())).containsExactly(replies.get(0).thingId());
      assertThat(table.rowsOf(toLeft.user())).hasSize(1);
    }
  }

  private static IdempotentWork runner(DataSource pool, Procedure kind) {
    return IdempotentWork.on(PostgresIdempotencyStore.builder(pool).build(), kind);
  }

  private static ThingServer server(DataSource pool, IdempotentWork runner, Procedure kind) {
    ThingWork work = new ThingWork(runner, kind, pool);
    return PostgresThingServer.on(pool)
        .withoutResource()
        .createThing(thing -> thing.keyPolicy(KeyPolicy.HANDLER_INTERNAL))
        .handler(
            (request, answer) -> {
              Caller caller = ThingServer.caller();
              try {
                Thing made =
                    work.run(
                            caller,
                            "import:" + request.getRequestId(),
                            request,
                            () ->
                                work.make(ThingWork.styleOf(kind.execution()), caller.userId(), ""))
                        .value();
                ThingHandler.answer(answer, made);
              } catch (Exception failure) {
                answer.onError(Status.INTERNAL.withCause(failure).asRuntimeException());
              }
            })
        .start();
  }
}
