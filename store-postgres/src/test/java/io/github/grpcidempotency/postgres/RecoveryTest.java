package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.protobuf.util.Durations;
import com.google.rpc.Code;
import com.google.rpc.ErrorInfo;
import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.grpc.CurrentOperation;
import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.procedure.InFlightPolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.procedure.ResourceType;
import io.github.grpcidempotency.procedure.ResponseProtection;
import io.github.grpcidempotency.proto.v1.RecoverRequest;
import io.github.grpcidempotency.proto.v1.RecoverResponse;
import io.github.grpcidempotency.proto.v1.RecoveryGrpc;
import io.github.grpcidempotency.proto.v1.Unfinished;
import io.github.grpcidempotency.proto.v1.WorkStatus;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.FailurePhase;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Outcomes that a client asks for by method and key. */
class RecoveryTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final String METHOD = ThingServiceGrpc.getCreateThingMethod().getFullMethodName();
  private static final String OTHER = ThingServiceGrpc.getCreateOtherMethod().getFullMethodName();
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final UUID ALICE = UUID.randomUUID();
  private static final Metadata.Key<String> CALLER =
      Metadata.Key.of("caller", Metadata.ASCII_STRING_MARSHALLER);
  private static final Context.Key<Caller> CURRENT = Context.key("caller");

  private final Deque<RecoveringServer> open = new ArrayDeque<>();
  private final String key = UUID.randomUUID().toString();

  @AfterEach
  void stop() throws InterruptedException {
    while (!open.isEmpty()) {
      open.pop().stop();
    }
  }

  @ParameterizedTest
  @EnumSource
  void aRecordedResponseIsFoundByMethodAndKey(Execution execution) throws Exception {
    RecoveringServer things = start(procedure -> procedure.execution(execution).omit("name"));
    Thing first = things.create("a thing");

    RecoverResponse found = things.recover(METHOD, key, Duration.ZERO);

    assertThat(found.getResponse().unpack(Thing.class))
        .isEqualTo(first.toBuilder().clearName().build());
    assertThat(found.getOperation()).isEqualTo(things.lastOperation());
    assertThat(found.getWorkStatus()).isEqualTo(WorkStatus.WORK_STATUS_COMPLETED);
    assertThat(found.getOmittedFieldsList()).containsExactly("name");
    assertThat(found.hasExpires()).isTrue();
    assertThat(things.runs).hasValue(1);
  }

  @ParameterizedTest
  @EnumSource
  void aRecordedErrorIsFoundWithItsDetails(Execution execution) throws Exception {
    RecoveringServer things =
        start(
            procedure ->
                procedure
                    .execution(execution)
                    .failures(FailurePolicy.releaseAll().withTerminal(Code.FAILED_PRECONDITION)));
    assertThatExceptionOfType(StatusRuntimeException.class)
        .isThrownBy(() -> things.create("terminal"));

    com.google.rpc.Status found = things.recover(METHOD, key, Duration.ZERO).getError();

    assertThat(found.getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION.value());
    assertThat(found.getMessage()).isEqualTo("no");
    assertThat(found.getDetails(0).unpack(ErrorInfo.class).getReason()).isEqualTo("WHY");
  }

  @Test
  void unknownKeysAndThoseOfOtherCallersGetTheSameAnswer() throws Exception {
    RecoveringServer things = start(procedure -> procedure);
    things.create("a thing");

    String absent = things.unknown(ALICE.toString(), METHOD, UUID.randomUUID().toString());

    assertThat(things.unknown(UUID.randomUUID().toString(), METHOD, key)).isEqualTo(absent);
    assertThat(things.unknown(ALICE + "/tenant", METHOD, key)).isEqualTo(absent);
    assertThat(things.unknown(ALICE.toString(), OTHER, key)).isEqualTo(absent);
  }

  @ParameterizedTest
  @EnumSource
  void aRunningCallIsReportedOrWaitedForOnAnyServer(Execution execution) throws Exception {
    RecoveringServer left = start(procedure -> procedure.execution(execution));
    RecoveringServer right = start(procedure -> procedure.execution(execution));
    CompletableFuture<Thing> running = CompletableFuture.supplyAsync(() -> left.create("slow"));
    left.entered.await();
    for (RecoveringServer things : new RecoveringServer[] {left, right}) {
      RecoverResponse found = things.recover(METHOD, key, Duration.ZERO);
      assertThat(found.getUnfinished().getState()).isEqualTo(Unfinished.State.STATE_RUNNING);
      assertThat(found.getOperation())
          .as("as a duplicate is told")
          .matches(execution == Execution.TRANSACTIONAL ? "" : "[0-9a-f-]{36}");
    }

    CompletableFuture<RecoverResponse> onLeft = recovering(left);
    CompletableFuture<RecoverResponse> onRight = recovering(right);
    assertThat(onLeft).isNotDone();
    left.leave.countDown();

    Thing first = running.join();
    assertThat(onLeft.join().getResponse().unpack(Thing.class)).isEqualTo(first);
    assertThat(onRight.join().getResponse().unpack(Thing.class)).isEqualTo(first);
    assertThat(left.runs.get() + right.runs.get()).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource
  void ofACallThatFailedMeanwhileNothingIsKnownAndADuplicateRuns(Execution execution)
      throws Exception {
    RecoveringServer things =
        start(procedure -> procedure.execution(execution).inFlight(InFlightPolicy.attach(LONG)));
    CompletableFuture<Thing> running =
        CompletableFuture.supplyAsync(() -> things.create("slow and failing once"));
    things.entered.await();
    CompletableFuture<RecoverResponse> recovering = recovering(things);
    CompletableFuture<Thing> duplicate =
        CompletableFuture.supplyAsync(() -> things.create("slow and failing once"));
    await().until(() -> things.attached.get() == 1);
    things.leave.countDown();

    assertThatExceptionOfType(Exception.class).isThrownBy(running::join);
    Thing second = duplicate.join();
    // The search comes before the duplicate in the queue: it is told that nothing is left, or of
    // its answer.
    RecoverResponse found = orUnknown(recovering);
    assertThat(found.hasResponse() ? found.getResponse().unpack(Thing.class) : second)
        .isEqualTo(second);
    assertThat(things.runs).hasValue(2);
  }

  @Test
  void anAbandonedCallIsReportedAndADuplicateCanStillTakeItOver() throws Exception {
    Duration lease = Duration.ofSeconds(1);
    RecoveringServer things =
        start(lease, procedure -> procedure.inFlight(InFlightPolicy.attach(LONG)));
    things.abandon("a thing");
    CompletableFuture<RecoverResponse> recovering = recovering(things);
    CompletableFuture<Thing> duplicate =
        CompletableFuture.supplyAsync(() -> things.create("a thing"));

    Thing taken = duplicate.join();

    RecoverResponse found = recovering.join();
    assertThat(found.hasResponse() || found.getUnfinished().getState() == STATE_ABANDONED)
        .as(found.toString())
        .isTrue();
    assertThat(things.recover(METHOD, key, Duration.ZERO).getResponse().unpack(Thing.class))
        .isEqualTo(taken);
  }

  private static final Unfinished.State STATE_ABANDONED = Unfinished.State.STATE_ABANDONED;

  @Test
  void anAbandonedCallIsFoundAsSuch() throws Exception {
    RecoveringServer things = start(Duration.ofMillis(100), procedure -> procedure);
    things.abandon("a thing");

    await()
        .until(
            () -> things.recover(METHOD, key, LONG).getUnfinished().getState() == STATE_ABANDONED);
  }

  @Test
  void theGuardAndTheSealApply() throws Exception {
    RecoveringServer denied = start(procedure -> procedure.guard((caller, resource) -> false));
    Thing first = denied.create("a thing");
    assertRefused(
        () -> denied.recover(METHOD, key, Duration.ZERO),
        Status.Code.PERMISSION_DENIED,
        "IDEMPOTENCY_REPLAY_DENIED");
    String sealedKey = UUID.randomUUID().toString();
    RecoveringServer sealed = start(procedure -> procedure.protect(new Turned()));
    Thing second = sealed.create("a thing", sealedKey);

    assertThat(sealed.recover(METHOD, sealedKey, Duration.ZERO).getResponse().unpack(Thing.class))
        .isEqualTo(second)
        .isNotEqualTo(first);
  }

  @Test
  void aWrongQuestionIsRefused() throws Exception {
    RecoveringServer things = start(procedure -> procedure);

    assertRefused(
        () -> things.recover(METHOD, "not a UUID", Duration.ZERO),
        Status.Code.INVALID_ARGUMENT,
        "IDEMPOTENCY_KEY_INVALID");
    assertRefused(
        () -> things.recover(Optional.empty(), METHOD, key, Duration.ZERO),
        Status.Code.UNAUTHENTICATED,
        "IDEMPOTENCY_CALLER_REQUIRED");
    assertThatExceptionOfType(StatusRuntimeException.class)
        .isThrownBy(() -> things.recover("no.such/Method", key, Duration.ZERO))
        .withMessageStartingWith("INVALID_ARGUMENT: method");
  }

  @ParameterizedTest
  @EnumSource
  void aKeyForWhatAHandlerCallsIsTheSameInEveryRunAndDiffersOtherwise(Execution execution)
      throws Exception {
    RecoveringServer things = start(procedure -> procedure.execution(execution));
    assertThatExceptionOfType(StatusRuntimeException.class)
        .isThrownBy(() -> things.create("failing once"));
    String beforeTheRelease = things.outboundKey;

    things.create("failing once");

    assertThat(things.outboundKey).isEqualTo(beforeTheRelease).doesNotContain(key);
    assertThat(UUID.fromString(things.outboundKey).version()).isEqualTo(4);
    assertThat(things.otherOutboundKey).isNotEqualTo(things.outboundKey);
    things.create("a thing", UUID.randomUUID().toString());
    assertThat(things.outboundKey).isNotEqualTo(beforeTheRelease);
  }

  @ParameterizedTest
  @EnumSource
  void aResponseThatIsNotRecordedIsMadeAgainFromItsResource(Execution execution) throws Exception {
    RecoveringServer things = start(procedure -> rebuilding(procedure.execution(execution)));
    Thing first = things.create("a stored thing");
    UUID id = UUID.fromString(first.getId());
    assertThat(responsesOf(ALICE)).isEmpty();

    assertThat(things.create("a stored thing")).isEqualTo(first);
    assertThat(things.lastTrailer(IdempotencyMetadata.RECONSTRUCTED)).isEqualTo("true");
    database
        .superuser()
        .useHandle(
            handle -> handle.execute("UPDATE app.things SET name = 'renamed' WHERE id = ?", id));
    RecoverResponse found = things.recover(METHOD, key, Duration.ZERO);

    assertThat(found.getReconstructed()).isTrue();
    assertThat(found.getResponse().unpack(Thing.class).getName()).isEqualTo("renamed");
    assertThat(things.runs).hasValue(1);
  }

  @ParameterizedTest
  @EnumSource
  void aResourceThatIsGoneIsReported(Execution execution) throws Exception {
    RecoveringServer things = start(procedure -> rebuilding(procedure.execution(execution)));
    UUID id = UUID.fromString(things.create("a stored thing").getId());
    database
        .superuser()
        .useHandle(handle -> handle.execute("DELETE FROM app.things WHERE id = ?", id));

    assertRefused(
        () -> things.create("a stored thing"), Status.Code.NOT_FOUND, "IDEMPOTENCY_RESOURCE_GONE");
    assertRefused(
        () -> things.recover(METHOD, key, Duration.ZERO),
        Status.Code.NOT_FOUND,
        "IDEMPOTENCY_RESOURCE_GONE");
    assertThat(things.runs).hasValue(1);
  }

  @Test
  void aServerWithoutARebuilderRefusesARecordWithoutABody() throws Exception {
    RecoveringServer newer = start(RecoveryTest::rebuilding);
    newer.create("a stored thing");
    RecoveringServer older =
        start(
            procedure ->
                procedure.resource(
                    ResourceType.of("thing"), thing -> UUID.fromString(thing.getId())));

    assertRefused(
        () -> older.create("a stored thing"), Status.Code.INTERNAL, "IDEMPOTENCY_ANSWER_TOO_LARGE");
    assertThat(older.runs).hasValue(0);
  }

  @ParameterizedTest
  @EnumSource(names = {"NO_CONNECTION", "OTHER"})
  void aRebuilderThatCannotFindOutIsAskedAgain(FailureCause cause) throws Exception {
    AtomicBoolean out = new AtomicBoolean(true);
    RecoveringServer things =
        start(
            procedure ->
                rebuilding(procedure)
                    .rebuild(
                        (caller, id) -> {
                          if (out.get()) {
                            throw new StoreException("out", null, FailurePhase.NOTHING_SENT, cause);
                          }
                          return RecoveryTest.rebuild(caller, id);
                        }));
    Thing first = things.create("a stored thing");

    assertRefused(
        () -> things.create("a stored thing"),
        Status.Code.UNAVAILABLE,
        "IDEMPOTENCY_STORE_UNAVAILABLE");
    out.set(false);
    assertThat(things.create("a stored thing")).isEqualTo(first);
  }

  private static ProcedureBuilder<Thing> rebuilding(ProcedureBuilder<Thing> procedure) {
    return procedure
        .resource(ResourceType.of("thing"), thing -> UUID.fromString(thing.getId()))
        .rebuild(RecoveryTest::rebuild);
  }

  /** Returns the responses that are recorded whole. */
  private static List<byte[]> responsesOf(UUID user) {
    return database
        .superuser()
        .withHandle(
            handle ->
                handle
                    .createQuery(
                        "SELECT response_bytes FROM idempotency.idempotency_keys"
                            + " WHERE user_id = ? AND thing_id IS NOT NULL"
                            + " AND response_bytes IS NOT NULL")
                    .bind(0, user)
                    .mapTo(byte[].class)
                    .list());
  }

  private static Optional<Thing> rebuild(Caller caller, UUID id) {
    return database
        .superuser()
        .withHandle(
            handle ->
                handle
                    .createQuery("SELECT name FROM app.things WHERE id = ? AND user_id = ?")
                    .bind(0, id)
                    .bind(1, caller.userId())
                    .mapTo(String.class)
                    .findOne())
        .map(name -> Thing.newBuilder().setId(id.toString()).setName(name).build());
  }

  private static void assertRefused(Runnable question, Status.Code code, String reason) {
    assertThatExceptionOfType(StatusRuntimeException.class)
        .isThrownBy(question::run)
        .satisfies(
            refused -> {
              assertThat(refused.getStatus().getCode()).isEqualTo(code);
              assertThat(reasonOf(refused)).isEqualTo(reason);
            });
  }

  private static String reasonOf(StatusRuntimeException refused) throws IOException {
    com.google.rpc.Status status = StatusProto.fromThrowable(refused);
    return status == null ? "" : status.getDetails(0).unpack(ErrorInfo.class).getReason();
  }

  private CompletableFuture<RecoverResponse> recovering(RecoveringServer things) {
    return CompletableFuture.supplyAsync(() -> things.recover(METHOD, key, LONG));
  }

  private static RecoverResponse orUnknown(CompletableFuture<RecoverResponse> recovering) {
    return recovering.exceptionally(unknown -> RecoverResponse.getDefaultInstance()).join();
  }

  private RecoveringServer start(UnaryOperator<ProcedureBuilder<Thing>> createThing)
      throws IOException {
    return start(LONG, createThing);
  }

  private RecoveringServer start(Duration lease, UnaryOperator<ProcedureBuilder<Thing>> createThing)
      throws IOException {
    RecoveringServer things = new RecoveringServer(lease, createThing);
    open.push(things);
    return things;
  }

  /** A server of things with its recovery, and a client of both. */
  private final class RecoveringServer extends ThingServiceGrpc.ThingServiceImplBase {
    final AtomicInteger runs = new AtomicInteger();
    final AtomicInteger attached = new AtomicInteger();
    final CountDownLatch entered = new CountDownLatch(1);
    final CountDownLatch leave = new CountDownLatch(1);
    volatile String outboundKey = "";
    volatile String otherOutboundKey = "";
    private final Procedure createThing;
    private final PostgresIdempotencyStore store;
    private final IdempotencyInterceptor interceptor;
    private final Server server;
    private final ManagedChannel channel;
    private volatile Metadata lastTrailers = new Metadata();

    RecoveringServer(Duration lease, UnaryOperator<ProcedureBuilder<Thing>> described)
        throws IOException {
      this.createThing =
          described
              .apply(
                  Procedure.of(ThingServiceGrpc.getCreateThingMethod())
                      .execution(Execution.RESERVED))
              .build();
      this.store = PostgresIdempotencyStore.builder(database.app()).lease(lease).build();
      this.interceptor =
          IdempotencyInterceptor.builder(
                  Procedures.of(
                      createThing,
                      Procedure.of(ThingServiceGrpc.getCreateOtherMethod())
                          .execution(Execution.RESERVED)
                          .build()),
                  () -> Optional.ofNullable(CURRENT.get()))
              .store(store)
              .listener(
                  new IdempotencyListener() {
                    @Override
                    public void attached(IdempotencyEvent.Attached event) {
                      if (event.call().procedure().entry() == Entry.CALL) {
                        attached.incrementAndGet();
                      }
                    }
                  })
              .build();
      this.server =
          NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
              .addService(this)
              .addService(interceptor.recovery())
              .intercept(interceptor)
              .intercept(new Authentication())
              .build()
              .start();
      this.channel =
          NettyChannelBuilder.forAddress("localhost", server.getPort()).usePlaintext().build();
    }

    @Override
    public void createThing(CreateThingRequest request, StreamObserver<Thing> observer) {
      int run = runs.incrementAndGet();
      outboundKey = CurrentOperation.outboundKey("charge");
      otherOutboundKey = CurrentOperation.outboundKey("ship");
      String name = request.getName();
      if (CurrentOperation.hasTransaction()) {
        ClaimTransaction.handle(); // or the call is reported as unprotected
      }
      if (name.contains("slow") && run == 1) {
        entered.countDown();
        try {
          leave.await();
        } catch (InterruptedException stopped) {
          Thread.currentThread().interrupt();
        }
      }
      if (name.contains("terminal")) {
        observer.onError(
            StatusProto.toStatusRuntimeException(
                com.google.rpc.Status.newBuilder()
                    .setCode(Status.Code.FAILED_PRECONDITION.value())
                    .setMessage("no")
                    .addDetails(Any.pack(ErrorInfo.newBuilder().setReason("WHY").build()))
                    .build()));
      } else if (name.contains("failing once") && run == 1) {
        observer.onError(Status.INTERNAL.asRuntimeException());
      } else {
        UUID id = UUID.randomUUID();
        if (name.contains("stored")) {
          insert(id, name);
        }
        observer.onNext(Thing.newBuilder().setId(id.toString()).setName(name).build());
        observer.onCompleted();
      }
    }

    private void insert(UUID id, String name) {
      String sql = "INSERT INTO app.things (id, user_id, name) VALUES (?, ?, ?)";
      if (CurrentOperation.hasTransaction()) {
        ClaimTransaction.handle().execute(sql, id, ALICE, name);
      } else {
        database.superuser().useHandle(handle -> handle.execute(sql, id, ALICE, name));
      }
    }

    Thing create(String name) {
      return create(name, key);
    }

    Thing create(String name, String withKey) {
      Metadata headers = new Metadata();
      headers.put(CALLER, ALICE.toString());
      headers.put(IdempotencyMetadata.KEY, withKey);
      var trailers = new AtomicReference<Metadata>();
      Channel keyed =
          ClientInterceptors.intercept(
              channel,
              MetadataUtils.newAttachHeadersInterceptor(headers),
              MetadataUtils.newCaptureMetadataInterceptor(new AtomicReference<>(), trailers));
      Thing thing =
          ThingServiceGrpc.newBlockingStub(keyed)
              .createThing(CreateThingRequest.newBuilder().setName(name).build());
      lastTrailers = Optional.ofNullable(trailers.get()).orElseGet(Metadata::new);
      return thing;
    }

    /** Reserves the key as a server does that dies then. */
    void abandon(String name) {
      CreateThingRequest request = CreateThingRequest.newBuilder().setName(name).build();
      Things.win(
          store,
          Things.claimOf(
              new IdempotencyKey(Caller.of(ALICE), key),
              createThing,
              createThing.fingerprinter().fingerprint(request)));
    }

    String lastOperation() {
      return lastTrailer(IdempotencyMetadata.OPERATION);
    }

    String lastTrailer(Metadata.Key<String> name) {
      return Optional.ofNullable(lastTrailers.get(name)).orElse("");
    }

    RecoverResponse recover(String method, String askedKey, Duration wait) {
      return recover(Optional.of(ALICE.toString()), method, askedKey, wait);
    }

    RecoverResponse recover(
        Optional<String> caller, String method, String askedKey, Duration wait) {
      Metadata headers = new Metadata();
      caller.ifPresent(who -> headers.put(CALLER, who));
      return RecoveryGrpc.newBlockingStub(channel)
          .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers))
          .recover(
              RecoverRequest.newBuilder()
                  .setMethod(method)
                  .setKey(askedKey)
                  .setWait(Durations.fromMillis(wait.toMillis()))
                  .build());
    }

    /** Asks for what is not to be found, and returns all that the answer says. */
    String unknown(String caller, String method, String askedKey) throws IOException {
      try {
        return recover(Optional.of(caller), method, askedKey, Duration.ZERO).toString();
      } catch (StatusRuntimeException refused) {
        assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.NOT_FOUND);
        assertThat(reasonOf(refused)).isEqualTo("IDEMPOTENCY_KEY_UNKNOWN");
        return refused.getStatus() + " " + StatusProto.fromThrowable(refused);
      }
    }

    void stop() throws InterruptedException {
      leave.countDown();
      channel.shutdownNow();
      server.shutdownNow().awaitTermination();
      interceptor.close();
    }
  }

  private static final class Authentication implements ServerInterceptor {
    @Override
    public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
        ServerCall<RequestT, ResponseT> call,
        Metadata headers,
        ServerCallHandler<RequestT, ResponseT> next) {
      String caller = headers.get(CALLER);
      if (caller == null) {
        return next.startCall(call, headers);
      }
      String[] parts = caller.split("/", 2);
      Caller user = Caller.of(UUID.fromString(parts[0]));
      return Contexts.interceptCall(
          Context.current().withValue(CURRENT, parts.length > 1 ? user.inTenant(parts[1]) : user),
          call,
          headers,
          next);
    }
  }

  /** Turns the bytes around. */
  private static final class Turned implements ResponseProtection {
    @Override
    public ByteString seal(ByteString answer, ByteString binding) {
      byte[] bytes = answer.toByteArray();
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] = (byte) ~bytes[i];
      }
      return ByteString.copyFrom(bytes);
    }

    @Override
    public ByteString open(ByteString stored, ByteString binding) {
      return seal(stored, binding);
    }
  }
}
