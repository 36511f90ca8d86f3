package io.github.grpcidempotency.postgres;

import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import com.google.protobuf.util.Durations;
import io.github.grpcidempotency.fault.Gate;
import io.github.grpcidempotency.internal.engine.Setup;
import io.github.grpcidempotency.internal.engine.Stores;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.postgres.internal.transaction.HandlerTransaction;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.proto.v1.RecoverRequest;
import io.github.grpcidempotency.proto.v1.RecoverResponse;
import io.github.grpcidempotency.proto.v1.RecoveryGrpc;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.MethodDescriptor;
import java.sql.Connection;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;

/** Requests for things, and the claims that a server would make for them. */
final class Things {
  static final String IN_PROGRESS = "IDEMPOTENCY_IN_PROGRESS";
  static final String KEY_REUSED = "IDEMPOTENCY_KEY_REUSED";
  static final String STORE_UNAVAILABLE = "IDEMPOTENCY_STORE_UNAVAILABLE";

  static final Procedure CREATE_THING =
      Procedure.annotated(ThingServiceGrpc.getCreateThingMethod()).build();

  static final Procedure TRANSACTIONAL =
      Procedure.annotated(ThingServiceGrpc.getCreateThingMethod())
          .execution(Execution.TRANSACTIONAL)
          .build();

  /** An answer that refers to nothing. */
  static final RecordedOutcome ANSWER =
      new RecordedOutcome.Response(ByteString.copyFromUtf8("an answer"), Optional.empty());

  private Things() {}

  /** Returns the connection of the handler of a transactional claim. */
  static Connection connectionOf(Claim claim) {
    return ((HandlerTransaction) claim.transaction().orElseThrow()).guardedConnection();
  }

  static CreateThingRequest named(String name) {
    return CreateThingRequest.newBuilder().setName(name).build();
  }

  /** A request whose handler waits at a gate. */
  static CreateThingRequest waitingAt(Gate gate) {
    return CreateThingRequest.newBuilder()
        .setName("a slow thing")
        .putLabels("gate", gate.name())
        .build();
  }

  /** A request whose handler waits at a gate and then fails. */
  static CreateThingRequest failingAfter(Gate gate) {
    return waitingAt(gate).toBuilder().putLabels("fail", "").build();
  }

  /** Returns the user whose call a handler handles on this thread. */
  static UUID caller() {
    return ThingServer.caller().userId();
  }

  /** The request to the store when a client calls {@code CreateThing}. */
  static ClaimRequest claimOf(ThingClient client, CreateThingRequest request) {
    return claimOf(
        new IdempotencyKey(Caller.of(client.user()), client.key()),
        CREATE_THING,
        Fingerprinter.wholeRequest().fingerprint(request));
  }

  /** Such a request of a user, with a key of its own. */
  static ClaimRequest claimOf(UUID user, Procedure procedure) {
    return claimOf(
        new IdempotencyKey(Caller.of(user), UUID.randomUUID().toString()),
        procedure,
        Fingerprinter.wholeRequest().fingerprint(named("a thing")));
  }

  static ClaimRequest claimOf(IdempotencyKey key, Procedure procedure, Fingerprint fingerprint) {
    return ClaimRequest.of(key, RecordedProcedure.of(procedure), fingerprint)
        .retainedFor(procedure.retention());
  }

  /** Checks what a server does as it starts. */
  static void verify(IdempotencyStore store, Procedure... procedures) {
    Setup.check(Procedures.of(procedures), Optional.of(Stores.of(store)));
  }

  /** Claims a key that must be free. */
  static Claim win(IdempotencyStore store, ClaimRequest request) {
    return ((ClaimResult.Won) store.claim(request)).claim();
  }

  /** Calls until there is an answer, as a client does that retries. */
  static Reply untilAnswered(ThingClient client, CreateThingRequest request) {
    return await()
        .pollInterval(Duration.ofMillis(20))
        .until(() -> client.createThing(request), Reply::isOk);
  }

  /** Returns an answer that refers to a thing. */
  static RecordedOutcome answer(UUID thing) {
    return new RecordedOutcome.Response(
        ByteString.copyFromUtf8("an answer"), Optional.of(ResourceId.of(thing)));
  }

  /** Asks for the outcome of a client's call, and waits for its end if it runs. */
  static RecoverResponse recover(ThingClient client, MethodDescriptor<?, ?> method, Duration wait) {
    return recover(
        client,
        RecoverRequest.newBuilder()
            .setMethod(method.getFullMethodName())
            .setKey(client.key())
            .setWait(Durations.fromMillis(wait.toMillis())));
  }

  static RecoverResponse recover(ThingClient client, RecoverRequest.Builder asked) {
    return RecoveryGrpc.newBlockingStub(client.channel()).recover(asked.build());
  }
}
