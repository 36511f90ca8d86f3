package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.google.common.util.concurrent.ListenableFuture;
import com.google.common.util.concurrent.Uninterruptibles;
import com.google.longrunning.ListOperationsRequest;
import com.google.longrunning.ListOperationsResponse;
import com.google.longrunning.Operation;
import com.google.longrunning.OperationsGrpc;
import com.google.longrunning.WaitOperationRequest;
import com.google.protobuf.util.Durations;
import io.github.grpcidempotency.key.KeyFormat;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.proto.v1.RecoverRequest;
import io.github.grpcidempotency.proto.v1.RecoverResponse;
import io.github.grpcidempotency.proto.v1.RecoveryGrpc;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.ClientInterceptor;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Several calls of one user that wait for one operation. */
class OperationWaitersTest extends CallTest {
  private static final Metadata.Key<String> SESSION =
      Metadata.Key.of("session", Metadata.ASCII_STRING_MARSHALLER);
  private static final Context.Key<String> CURRENT_SESSION = Context.key("session");
  private static final String ENTITLED = "entitled";

  private final AtomicInteger waiting = new AtomicInteger();
  private final Set<String> asked = ConcurrentHashMap.newKeySet();

  @Test
  void everyWaiterIsGuardedInTheContextOfItsOwnCall() throws Exception {
    ThingServer server =
        start(
            serving()
                .createThing(
                    thing ->
                        thing.guard(
                            (caller, resource) -> {
                              asked.add(CURRENT_SESSION.get());
                              return CURRENT_SESSION.get().startsWith(ENTITLED);
                            })));
    TestCall.Started first = keepOneRunning(server);
    String name =
        keyed(server)
            .header(SESSION, ENTITLED)
            .end()
            .trailer(IdempotencyMetadata.OPERATION)
            .orElseThrow();
    List<ListenableFuture<Operation>> entitled = new ArrayList<>();
    List<ListenableFuture<Operation>> others = new ArrayList<>();
    for (int each = 0; each < 10; each++) {
      others.add(wait(server, "other " + each, name));
      entitled.add(wait(server, ENTITLED + each, name));
    }
    await().until(() -> waiting.get() == 20);

    server.things().nextRunning().succeed();

    first.end().first();
    for (ListenableFuture<Operation> each : entitled) {
      assertThat(each.get().getResponse().getValue()).isNotEmpty();
    }
    for (ListenableFuture<Operation> each : others) {
      assertThatExceptionOfType(ExecutionException.class)
          .isThrownBy(each::get)
          .havingCause()
          .isInstanceOfSatisfying(
              StatusRuntimeException.class,
              refused ->
                  assertThat(refused.getStatus().getCode())
                      .isEqualTo(Status.Code.PERMISSION_DENIED));
    }
    assertThat(asked).hasSizeGreaterThanOrEqualTo(20);
  }

  @Test
  void aWaiterForWhomThereIsNoRoomIsAnsweredAtOnce() throws Exception {
    ThingServer server = start(serving().settings(settings -> settings.waitingCalls(0, 0)));
    TestCall.Started first = keepOneRunning(server);
    String name = keyed(server).end().trailer(IdempotencyMetadata.OPERATION).orElseThrow();

    Operation running = wait(server, "any", name).get(1, TimeUnit.MINUTES);

    assertThat(running.getDone()).isFalse();
    server.things().nextRunning().succeed();
    first.end().first();
  }

  @Test
  void aWaitingRecoveryIsAnsweredAlthoughItsGuardThrowsAnError() throws Exception {
    ThingServer server = start(serving().createThing(OperationWaitersTest::guardedInVain));
    TestCall.Started first = keepOneRunning(server);
    ListenableFuture<RecoverResponse> waits = recover(server, KEY);
    await().until(() -> waiting.get() == 1);

    server.things().nextRunning().succeed();

    first.end().first();
    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(() -> waits.get(1, TimeUnit.MINUTES))
        .havingCause()
        .isInstanceOfSatisfying(
            StatusRuntimeException.class,
            refused ->
                assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.PERMISSION_DENIED));
  }

  @Test
  void aFormatOfTheServicesOwnGetsNoLongerKeysFromARecoveryThanFromACall() {
    AtomicInteger longest = new AtomicInteger();
    KeyFormat format =
        raw -> {
          longest.accumulateAndGet(raw.length(), Math::max);
          return Optional.of("the key");
        };
    ThingServer server =
        start(server().store(memory).withServices().createThing(thing -> thing.keyFormat(format)));

    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(() -> recover(server, "k".repeat(513)).get(1, TimeUnit.MINUTES))
        .havingCause()
        .withMessageStartingWith("INVALID_ARGUMENT");
    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(() -> recover(server, "k".repeat(512)).get(1, TimeUnit.MINUTES))
        .havingCause()
        .withMessageStartingWith("NOT_FOUND");
    assertThat(longest).hasValue(512);
  }

  @Test
  void aSlowResolverDelaysOnlyTheWaitersOfItsProcedure() throws Exception {
    CountDownLatch asking = new CountDownLatch(2);
    CountDownLatch mayAnswer = new CountDownLatch(1);
    AtomicBoolean otherIsDone = new AtomicBoolean();
    ThingServer server =
        start(
            serving()
                .createThing(
                    thing ->
                        thing.status(
                            resource -> {
                              asking.countDown();
                              if (asking.getCount() == 0) {
                                Uninterruptibles.awaitUninterruptibly(mayAnswer);
                              }
                              return IdempotencyStatus.PROCESSING;
                            }))
                .describe(
                    Procedure.of(ThingServer.CREATE_OTHER)
                        .execution(Execution.RESERVED)
                        .resource(ResourceType.of("thing"), other -> ResourceId.of(other.getId()))
                        .status(
                            resource ->
                                otherIsDone.get()
                                    ? IdempotencyStatus.COMPLETED
                                    : IdempotencyStatus.PROCESSING)
                        .build()));
    String slow = nameOf(keyed(server));
    String quick =
        nameOf(
            call(server, "other")
                .as(ALICE)
                .key(UUID.randomUUID().toString())
                .to(ThingServer.CREATE_OTHER));
    ListenableFuture<Operation> waitsLonger = wait(server, "any", slow);
    asking.await();

    ListenableFuture<Operation> waits = wait(server, "any", quick);
    await().until(() -> waiting.get() == 2);
    otherIsDone.set(true);

    assertThat(waits.get(1, TimeUnit.MINUTES).getDone()).isTrue();
    mayAnswer.countDown();
    waitsLonger.cancel(true);
  }

  @Test
  void oneRequestForAListCallsAResolverAtMostAHundredTimes() {
    AtomicInteger asks = new AtomicInteger();
    ThingServer server =
        start(
            server()
                .store(memory)
                .withServices()
                .createThing(
                    thing ->
                        thing.status(
                            resource -> {
                              asks.incrementAndGet();
                              return IdempotencyStatus.PROCESSING;
                            })));
    for (int each = 0; each < 110; each++) {
      call(server, "a thing").as(ALICE).key(UUID.randomUUID().toString()).end().first();
    }
    ListOperationsRequest completed =
        ListOperationsRequest.newBuilder().setFilter("done = true").build();

    ListOperationsResponse page = stub(server).listOperations(completed);

    assertThat(asks).hasValue(100);
    assertThat(page.getOperationsList()).isEmpty();
    ListOperationsResponse last =
        stub(server)
            .listOperations(completed.toBuilder().setPageToken(page.getNextPageToken()).build());
    assertThat(last.getNextPageToken()).isEmpty();
    assertThat(asks).hasValue(110);
  }

  private ThingServer.Builder serving() {
    return server().store(memory).outside(new Sessions()).withServices();
  }

  private static ProcedureBuilder<Thing> guardedInVain(ProcedureBuilder<Thing> thing) {
    return thing.guard(
        (caller, resource) -> {
          throw new AssertionError("on purpose");
        });
  }

  private static OperationsGrpc.OperationsBlockingStub stub(ThingServer server) {
    Metadata headers = new Metadata();
    headers.put(ThingServer.USER, ALICE.toString());
    return OperationsGrpc.newBlockingStub(server.channel())
        .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers));
  }

  private static String nameOf(TestCall call) {
    return call.header(SESSION, "any")
        .end()
        .first()
        .trailer(IdempotencyMetadata.OPERATION)
        .orElseThrow();
  }

  private static ListenableFuture<Operation> wait(ThingServer server, String session, String name) {
    return OperationsGrpc.newFutureStub(server.channel())
        .withInterceptors(ofAlice(session))
        .waitOperation(WaitOperationRequest.newBuilder().setName(name).build());
  }

  private static ListenableFuture<RecoverResponse> recover(ThingServer server, String key) {
    return RecoveryGrpc.newFutureStub(server.channel())
        .withInterceptors(ofAlice("any"))
        .recover(
            RecoverRequest.newBuilder()
                .setMethod(ThingServer.CREATE_THING.getFullMethodName())
                .setKey(key)
                .setWait(Durations.fromSeconds(20))
                .build());
  }

  private static ClientInterceptor ofAlice(String session) {
    Metadata headers = new Metadata();
    headers.put(ThingServer.USER, ALICE.toString());
    headers.put(SESSION, session);
    return MetadataUtils.newAttachHeadersInterceptor(headers);
  }

  /** Knows the session of a call, and counts the calls that wait. */
  private final class Sessions implements ServerInterceptor {
    @Override
    public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
        ServerCall<RequestT, ResponseT> call,
        Metadata headers,
        ServerCallHandler<RequestT, ResponseT> next) {
      String session = headers.get(SESSION);
      boolean waits =
          call.getMethodDescriptor() == OperationsGrpc.getWaitOperationMethod()
              || call.getMethodDescriptor() == RecoveryGrpc.getRecoverMethod();
      return new SimpleForwardingServerCallListener<>(
          Contexts.interceptCall(
              Context.current().withValue(CURRENT_SESSION, session), call, headers, next)) {
        @Override
        public void onHalfClose() {
          super.onHalfClose();
          waiting.addAndGet(waits ? 1 : 0);
        }
      };
    }
  }
}
