package io.github.grpcidempotency.postgres;

import static io.github.grpcidempotency.postgres.OperationsClient.nameOf;
import static io.github.grpcidempotency.postgres.OperationsClient.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.fault.Gate;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.EventJournal;
import io.github.grpcidempotency.thing.GrpcCleanupExtension;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A server that shuts down: each call with a key is answered, or can be sent again. */
class DrainTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  /** Outlasts any test. */
  private static final Duration LONG = Duration.ofSeconds(50);

  private static final Duration SHORT = Duration.ofMillis(200);
  private static final String SHUTTING_DOWN = "IDEMPOTENCY_SHUTTING_DOWN";

  /** The common pool of newer JDKs has one thread on a machine with two cores. */
  private static final Executor THREADS = task -> new Thread(task).start();

  @RegisterExtension final GrpcCleanupExtension grpc = new GrpcCleanupExtension();
  private final EventJournal journal = new EventJournal();

  private PostgresThingServer.Builder settings(Execution execution) {
    return PostgresThingServer.on(database.newAppPool())
        .createThing(thing -> thing.attach(LONG))
        .execution(execution)
        .withServices();
  }

  private ThingServer start(PostgresThingServer.Builder builder) {
    return grpc.registerCloseable(builder.listener(journal.listener()).start());
  }

  private ThingClient clientOf(ThingServer of) {
    return grpc.registerCloseable(ThingClient.to(of.port()));
  }

  @ParameterizedTest
  @EnumSource(names = {"RESERVED", "TRANSACTIONAL"})
  void waitingCallsAreRefusedAtOnceAndRunningCallsAreAnsweredWithinTheGrace(Execution execution) {
    ThingServer server = start(settings(execution));
    ThingClient client = clientOf(server);
    String done = nameOf(client.withNewKey().createThing(Things.named("a thing")));
    try (Gate gate = Gate.shut(database.superuser())) {
      CreateThingRequest request = Things.waitingAt(gate);
      CompletableFuture<Reply> running = client.startThing(request);
      gate.awaitWaiting(1);
      CompletableFuture<Reply> duplicate = client.startThing(request);
      CompletableFuture<StatusRuntimeException> recovering =
          CompletableFuture.supplyAsync(
              () -> refused(() -> Things.recover(client, ThingServer.CREATE_THING, LONG)), THREADS);
      CompletableFuture<StatusRuntimeException> waiting =
          CompletableFuture.supplyAsync(
              () -> refused(() -> OperationsClient.of(client).await(done, LONG)), THREADS);
      await().until(() -> journal.live().orElseThrow().callsWaiting() == 2);
      await().until(() -> server.waits() == 1);

      CompletableFuture<Void> draining =
          CompletableFuture.runAsync(() -> server.drain(LONG), THREADS);

      Reply refused = duplicate.join();
      assertShutDown(refused.status(), refused.trailers());
      assertThat(refused.reason()).isEqualTo(SHUTTING_DOWN);
      assertThat(refused.retryAfter()).isPresent();
      assertShutDown(recovering.join());
      assertShutDown(waiting.join());
      assertThat(running).isNotDone();
      gate.open();
      assertThat(running.join().isOk()).isTrue();
      draining.join();
      assertThat(server.server().isTerminated()).isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"RESERVED", "TRANSACTIONAL"})
  void aHandlerThatTakesTooLongIsRefusedAndItsAnswerIsStillRecorded(Execution execution) {
    ThingServer server = start(settings(execution));
    ThingClient client = clientOf(server);
    ThingClient other = clientOf(start(settings(execution))).like(client);
    try (Gate gate = Gate.shut(database.superuser())) {
      CreateThingRequest request = Things.waitingAt(gate);
      CompletableFuture<Reply> running = client.startThing(request);
      gate.awaitWaiting(1);

      server.drain(SHORT);

      Reply refused = running.join();
      assertShutDown(refused.status(), refused.trailers());
      assertThat(refused.reason()).isEqualTo(SHUTTING_DOWN);
      assertThat(refused.operation()).isPresent();
      gate.open();
      Reply retried = other.createThing(request);
      assertThat(retried.isReplay()).isTrue();
      assertThat(retried.operation()).isEqualTo(refused.operation());
    }
  }

  @Test
  void aCallWithoutAKeyIsEndedByGrpc() {
    ThingServer server = start(settings(Execution.RESERVED));
    ThingClient client = clientOf(server);
    try (Gate gate = Gate.shut(database.superuser())) {
      CompletableFuture<Reply> running = client.withoutKey().startThing(Things.waitingAt(gate));
      gate.awaitWaiting(1);

      server.drain(SHORT);

      assertThat(running.join().reason()).isEmpty();
      gate.open();
    }
  }

  private static void assertShutDown(StatusRuntimeException refused) {
    assertThat(OperationsClient.reason(refused)).isEqualTo(SHUTTING_DOWN);
    assertShutDown(refused.getStatus(), Optional.ofNullable(refused.getTrailers()).orElseThrow());
  }

  /** What gRPC's own retries and every documented client send again. */
  private static void assertShutDown(Status status, Metadata trailers) {
    assertThat(status.getCode()).isEqualTo(Status.Code.UNAVAILABLE);
    String pushback =
        trailers.get(Metadata.Key.of("grpc-retry-pushback-ms", Metadata.ASCII_STRING_MARSHALLER));
    assertThat(Long.parseLong(pushback)).isPositive();
  }
}
