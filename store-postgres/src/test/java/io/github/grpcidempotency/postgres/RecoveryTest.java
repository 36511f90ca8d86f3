package io.github.grpcidempotency.postgres;

import static io.github.grpcidempotency.postgres.OperationsClient.reason;
import static io.github.grpcidempotency.postgres.OperationsClient.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.common.util.concurrent.Uninterruptibles;
import com.google.protobuf.Any;
import com.google.rpc.Code;
import com.google.rpc.ErrorInfo;
import io.github.grpcidempotency.event.CallEvent;
import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.fault.Gate;
import io.github.grpcidempotency.grpc.CurrentOperation;
import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.procedure.ResponseProtection;
import io.github.grpcidempotency.proto.v1.RecoverRequest;
import io.github.grpcidempotency.proto.v1.RecoverResponse;
import io.github.grpcidempotency.proto.v1.Unfinished.State;
import io.github.grpcidempotency.proto.v1.WorkStatus;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.spi.FailurePhase;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.EventJournal;
import io.github.grpcidempotency.thing.GrpcCleanupExtension;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Outcomes that a client asks for by method and key. */
class RecoveryTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final CreateThingRequest REQUEST = Things.named("a thing");

  private static final ThingServer plain = database.closing(server().start());

  private final KeyTable table = new KeyTable(database);
  @RegisterExtension final GrpcCleanupExtension grpc = new GrpcCleanupExtension();

  @Test
  void aRecordedResponseIsFoundByMethodAndKey() throws Exception {
    ThingServer server = start(server().withoutResource().createThing(thing -> thing.omit("name")));
    ThingClient client = clientOf(server);
    Reply first = client.createThing(REQUEST);

    RecoverResponse found = recover(client);

    assertThat(found.getResponse().unpack(Thing.class))
        .isEqualTo(first.thing().toBuilder().clearName().build());
    assertThat(first.operation()).contains(found.getOperation());
    assertThat(found.getWorkStatus()).isEqualTo(WorkStatus.WORK_STATUS_COMPLETED);
    assertThat(found.getOmittedFieldsList()).containsExactly("name");
    assertThat(found.hasExpires()).isTrue();
    assertThat(server.runs()).isEqualTo(1);
  }

  @Test
  void aRecordedErrorIsFoundWithItsDetails() throws Exception {
    StatusRuntimeException error =
        StatusProto.toStatusRuntimeException(
            com.google.rpc.Status.newBuilder()
                .setCode(Code.FAILED_PRECONDITION_VALUE)
                .setMessage("no")
                .addDetails(Any.pack(ErrorInfo.newBuilder().setReason("WHY").build()))
                .build());
    FailurePolicy terminal = FailurePolicy.releaseAll().withTerminal(Code.FAILED_PRECONDITION);
    ThingClient client =
        clientOf(
            start(
                server()
                    .createThing(thing -> thing.failures(terminal))
                    .handler((request, answer) -> answer.onError(error))));
    client.createThing(REQUEST);

    com.google.rpc.Status found = recover(client).getError();

    assertThat(found.getCode()).isEqualTo(Code.FAILED_PRECONDITION_VALUE);
    assertThat(found.getMessage()).isEqualTo("no");
    assertThat(found.getDetails(0).unpack(ErrorInfo.class).getReason()).isEqualTo("WHY");
  }

  @Test
  void unknownKeysAndThoseOfOtherCallersGetTheSameAnswer() {
    ThingClient client = ThingClient.on(plain.channel());
    client.createThing(REQUEST);

    String absent = unknown(client.withNewKey(), ThingServer.CREATE_THING);

    assertThat(unknown(client.as(UUID.randomUUID()), ThingServer.CREATE_THING)).isEqualTo(absent);
    assertThat(unknown(client.in("tenant"), ThingServer.CREATE_THING)).isEqualTo(absent);
    assertThat(unknown(client, ThingServer.CREATE_OTHER)).isEqualTo(absent);
  }

  @ParameterizedTest
  @EnumSource(names = {"RESERVED", "TRANSACTIONAL"})
  void aRunningCallIsReportedOrWaitedForOnAnyServer(Execution execution) throws Exception {
    ThingServer left = start(server().execution(execution));
    ThingServer right = start(server().execution(execution));
    ThingClient toLeft = clientOf(left);
    ThingClient toRight = clientOf(right).like(toLeft);
    try (Gate gate = Gate.shut(database.superuser())) {
      CompletableFuture<Reply> running = toLeft.startThing(Things.waitingAt(gate));
      gate.awaitWaiting(1);
      for (ThingClient client : List.of(toLeft, toRight)) {
        RecoverResponse found = recover(client);
        assertThat(found.getUnfinished().getState()).isEqualTo(State.STATE_RUNNING);
        assertThat(found.getOperation())
            .as("the operation that a duplicate's refusal names")
            .matches(execution == Execution.TRANSACTIONAL ? "" : "[0-9a-f-]{36}");
      }
      CompletableFuture<RecoverResponse> onLeft = recovering(toLeft);
      CompletableFuture<RecoverResponse> onRight = recovering(toRight);
      assertThat(onLeft).isNotDone();
      gate.open();

      Thing first = running.join().thing();
      assertThat(onLeft.join().getResponse().unpack(Thing.class)).isEqualTo(first);
      assertThat(onRight.join().getResponse().unpack(Thing.class)).isEqualTo(first);
      assertThat(left.runs() + right.runs()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"RESERVED", "TRANSACTIONAL"})
  void afterAFailedCallARecoveryFindsNothingAndADuplicateRuns(Execution execution)
      throws Exception {
    EventJournal journal = new EventJournal();
    CountDownLatch end = new CountDownLatch(1);
    AtomicBoolean fails = new AtomicBoolean(true);
    ThingServer server =
        start(
            server()
                .withoutResource()
                .createThing(thing -> thing.attach(LONG))
                .execution(execution)
                .listener(journal.listener())
                .handler(
                    (request, answer) -> {
                      if (fails.getAndSet(false)) {
                        Uninterruptibles.awaitUninterruptibly(end);
                        answer.onError(Status.INTERNAL.asRuntimeException());
                      } else {
                        ThingHandler.answer(request, answer);
                      }
                    }));
    ThingClient client = clientOf(server);
    CompletableFuture<Reply> running = client.startThing(REQUEST);
    await().until(() -> server.runs() == 1);
    CompletableFuture<RecoverResponse> recovering = recovering(client);
    CompletableFuture<Reply> duplicate = client.startThing(REQUEST);
    await()
        .until(
            () ->
                journal.all(Kind.ATTACHED, CallEvent.class).stream()
                    .anyMatch(event -> event.entry() == Entry.CALL));
    end.countDown();

    assertThat(running.join().isOk()).isFalse();
    Thing second = duplicate.join().thing();
    // The search comes before the duplicate in the queue, so it ends with nothing, or with the
    // duplicate's answer.
    RecoverResponse found =
        recovering.exceptionally(unknown -> RecoverResponse.getDefaultInstance()).join();
    assertThat(found.hasResponse() ? found.getResponse().unpack(Thing.class) : second)
        .isEqualTo(second);
    assertThat(server.runs()).isEqualTo(2);
  }

  @Test
  void anAbandonedCallIsReportedAndADuplicateCanStillTakeItOver() throws Exception {
    ThingClient client = clientOf(start(server().createThing(thing -> thing.attach(LONG))));
    abandon(client, Duration.ofSeconds(1));
    CompletableFuture<RecoverResponse> recovering = recovering(client);

    Thing taken = client.createThing(REQUEST).thing();

    RecoverResponse found = recovering.join();
    assertThat(found.hasResponse() || found.getUnfinished().getState() == State.STATE_ABANDONED)
        .as(found.toString())
        .isTrue();
    assertThat(recover(client).getResponse().unpack(Thing.class)).isEqualTo(taken);
  }

  @Test
  void anAbandonedCallHasTheStateAbandoned() {
    ThingClient client = ThingClient.on(plain.channel());
    abandon(client, Duration.ofMillis(100));

    await()
        .until(
            () ->
                Things.recover(client, ThingServer.CREATE_THING, LONG).getUnfinished().getState()
                    == State.STATE_ABANDONED);
  }

  @Test
  void recoveredAnswersAreGuardedAndDecrypted() throws Exception {
    ThingClient denied =
        clientOf(start(server().createThing(thing -> thing.guard((caller, resource) -> false))));
    denied.createThing(REQUEST);
    assertRefused(
        () -> recover(denied), Status.Code.PERMISSION_DENIED, "IDEMPOTENCY_REPLAY_DENIED");

    ResponseProtection protection = Keyset.create().protection();
    ThingClient sealed = clientOf(start(server().createThing(thing -> thing.protect(protection))));
    Thing first = sealed.createThing(REQUEST).thing();
    assertThat(recover(sealed).getResponse().unpack(Thing.class)).isEqualTo(first);
  }

  @Test
  void anInvalidRequestIsRefused() {
    ThingClient client = ThingClient.on(plain.channel());

    assertRefused(
        () -> recover(client.withKey("not a UUID")),
        Status.Code.INVALID_ARGUMENT,
        "IDEMPOTENCY_KEY_INVALID");
    assertRefused(
        () -> recover(client.withoutUser().withKey(client.key())),
        Status.Code.UNAUTHENTICATED,
        "IDEMPOTENCY_CALLER_REQUIRED");
    assertThat(
            refused(
                () ->
                    Things.recover(
                        client, RecoverRequest.newBuilder().setMethod("no.such/Method"))))
        .hasMessageStartingWith("INVALID_ARGUMENT: method");
  }

  @Test
  void anOutboundKeyIsTheSameInEveryRunOfACallAndDiffersOtherwise() {
    List<String> keys = new CopyOnWriteArrayList<>();
    ThingClient client =
        clientOf(
            start(
                server()
                    .withoutResource()
                    .handler(
                        (request, answer) -> {
                          keys.add(CurrentOperation.outboundKey("charge"));
                          keys.add(CurrentOperation.outboundKey("ship"));
                          if (keys.size() == 2) {
                            answer.onError(Status.INTERNAL.asRuntimeException());
                          } else {
                            ThingHandler.answer(request, answer);
                          }
                        })));
    assertThat(client.createThing(REQUEST).isOk()).isFalse();

    assertThat(client.createThing(REQUEST).isOk()).isTrue();
    assertThat(client.withNewKey().createThing(REQUEST).isOk()).isTrue();

    assertThat(keys.subList(2, 4)).isEqualTo(keys.subList(0, 2));
    assertThat(keys.subList(2, 6)).doesNotHaveDuplicates().doesNotContain(client.key());
    assertThat(UUID.fromString(keys.get(0)).version()).isEqualTo(4);
  }

  @ParameterizedTest
  @EnumSource(names = {"RESERVED", "TRANSACTIONAL"})
  void aResponseThatIsNotRecordedIsMadeAgainFromItsResource(Execution execution) throws Exception {
    ThingServer server = start(server().createThing(RecoveryTest::rebuilding).execution(execution));
    ThingClient client = clientOf(server);
    Thing first = client.createThing(REQUEST).thing();
    assertThat(
            table.count(
                "SELECT count(response_bytes) FROM idempotency.idempotency_keys"
                    + " WHERE thing_id = '%s'".formatted(first.getId())))
        .isZero();

    Reply replay = client.createThing(REQUEST);
    assertThat(replay.thing()).isEqualTo(first);
    assertThat(replay.trailers().get(IdempotencyMetadata.RECONSTRUCTED)).isEqualTo("true");
    database.execute(
        "UPDATE app.things SET name = 'renamed' WHERE id = '%s'".formatted(first.getId()));
    RecoverResponse found = recover(client);

    assertThat(found.getReconstructed()).isTrue();
    assertThat(found.getResponse().unpack(Thing.class).getName()).isEqualTo("renamed");
    assertThat(server.runs()).isEqualTo(1);
  }

  @Test
  void aResourceThatIsGoneIsReported() {
    ThingServer server = start(server().createThing(RecoveryTest::rebuilding));
    ThingClient client = clientOf(server);
    UUID thing = client.createThing(REQUEST).thingId();
    database.execute("DELETE FROM app.things WHERE id = '%s'".formatted(thing));

    assertRefused(client.createThing(REQUEST), Status.Code.NOT_FOUND, "IDEMPOTENCY_RESOURCE_GONE");
    assertRefused(() -> recover(client), Status.Code.NOT_FOUND, "IDEMPOTENCY_RESOURCE_GONE");
    assertThat(server.runs()).isEqualTo(1);
  }

  @Test
  void aServerWithoutARebuilderRefusesARecordWithoutABodyThatAnotherServerReplays() {
    ThingClient newer = clientOf(start(server().createThing(RecoveryTest::rebuilding)));
    newer.createThing(REQUEST);
    ThingServer older = start(server());

    assertRefused(
        clientOf(older).like(newer).createThing(REQUEST),
        Status.Code.INTERNAL,
        "IDEMPOTENCY_ANSWER_TOO_LARGE");
    assertThat(older.runs()).isZero();
    assertThat(newer.createThing(REQUEST).isReplay()).isTrue();
  }

  @ParameterizedTest
  @EnumSource(names = {"NO_CONNECTION", "OTHER"})
  void aRebuilderThatFailsIsCalledAgainByARetry(FailureCause cause) {
    AtomicBoolean out = new AtomicBoolean(true);
    ThingClient client =
        clientOf(
            start(
                server()
                    .createThing(
                        thing ->
                            thing.rebuild(
                                (caller, id) -> {
                                  if (out.get()) {
                                    throw StoreException.of(
                                        FailurePhase.NOTHING_SENT, cause, "out");
                                  }
                                  return rebuild(caller, id);
                                }))));
    Thing first = client.createThing(REQUEST).thing();

    assertRefused(client.createThing(REQUEST), Status.Code.UNAVAILABLE, Things.STORE_UNAVAILABLE);
    out.set(false);
    assertThat(client.createThing(REQUEST).thing()).isEqualTo(first);
  }

  private static ProcedureBuilder<Thing> rebuilding(ProcedureBuilder<Thing> thing) {
    return thing.rebuild(RecoveryTest::rebuild);
  }

  private static Optional<Thing> rebuild(Caller caller, ResourceId id) {
    return database
        .list(
            String.class,
            "SELECT name FROM app.things WHERE id = ? AND user_id = ?",
            id.asUuid(),
            caller.userId())
        .stream()
        .findFirst()
        .map(name -> Thing.newBuilder().setId(id.toString()).setName(name).build());
  }

  private static PostgresThingServer.Builder server() {
    return PostgresThingServer.on(database.app()).lease(LONG).withServices();
  }

  private ThingServer start(PostgresThingServer.Builder builder) {
    return grpc.registerCloseable(builder.start());
  }

  private ThingClient clientOf(ThingServer server) {
    return grpc.registerCloseable(ThingClient.to(server.port()));
  }

  /** Reserves the client's key as a server does that dies then. */
  private static void abandon(ThingClient client, Duration lease) {
    Things.win(
        PostgresIdempotencyStore.builder(database.app()).lease(lease).build(),
        Things.claimOf(client, REQUEST));
  }

  private static RecoverResponse recover(ThingClient client) {
    return Things.recover(client, ThingServer.CREATE_THING, Duration.ZERO);
  }

  private static CompletableFuture<RecoverResponse> recovering(ThingClient client) {
    return CompletableFuture.supplyAsync(
        () -> Things.recover(client, ThingServer.CREATE_THING, LONG));
  }

  /** Asks for what is not to be found, and returns all that the answer contains. */
  private static String unknown(ThingClient client, MethodDescriptor<?, ?> method) {
    StatusRuntimeException unknown = refused(() -> Things.recover(client, method, Duration.ZERO));
    assertThat(unknown.getStatus().getCode()).isEqualTo(Status.Code.NOT_FOUND);
    assertThat(reason(unknown)).isEqualTo("IDEMPOTENCY_KEY_UNKNOWN");
    return unknown.getStatus() + " " + StatusProto.fromThrowable(unknown);
  }

  private static void assertRefused(ThrowingCallable question, Status.Code code, String reason) {
    StatusRuntimeException refused = refused(question);
    assertThat(refused.getStatus().getCode()).isEqualTo(code);
    assertThat(reason(refused)).isEqualTo(reason);
  }

  private static void assertRefused(Reply reply, Status.Code code, String reason) {
    assertThat(reply.status().getCode()).isEqualTo(code);
    assertThat(reply.reason()).isEqualTo(reason);
  }
}
