package io.github.grpcidempotency.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.Any;
import com.google.protobuf.Message;
import com.google.rpc.Code;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.github.grpcidempotency.client.CallFailedException.Outcome;
import io.github.grpcidempotency.client.testing.v1.Order;
import io.github.grpcidempotency.client.testing.v1.OrderRequest;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import io.github.grpcidempotency.proto.WireNames;
import io.github.grpcidempotency.shop.EchoServer;
import io.github.grpcidempotency.shop.EchoServer.Answer;
import io.github.grpcidempotency.shop.EchoServer.Seen;
import io.github.grpcidempotency.shop.HttpProxy;
import io.grpc.CallCredentials;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class RetryingCallerTest {
  private static final UUID OPERATION = UUID.randomUUID();
  private static final OrderRequest REQUEST = OrderRequest.newBuilder().setName("tea").build();

  private final EchoServer server = new EchoServer();
  private final OrderServiceBlockingStub stub =
      OrderServiceGrpc.newBlockingStub(server.channel(builder -> builder));
  private final RetryingCaller quick = quick().build();

  @AfterEach
  void close() {
    server.close();
  }

  @Test
  void moreThanFiveAttemptsShareOneKey() {
    for (int i = 0; i < 3; i++) {
      server.answering(
          Answer.of(Status.UNAVAILABLE),
          Answer.of(Status.ABORTED),
          Answer.of(Status.RESOURCE_EXHAUSTED));
    }

    Reply<Order> reply = call(quick);

    assertThat(reply.response().getName()).isEqualTo("tea");
    assertThat(server.seen()).hasSize(10);
    assertThat(keys()).hasSize(1).allSatisfy(key -> assertThat(key).isNotEqualTo("none"));
  }

  @Test
  void aFieldOfTheRequestIsTheSameInEveryAttempt() {
    server.answering(Answer.of(Status.UNAVAILABLE), Answer.of(Status.UNAVAILABLE));

    Reply<Order> reply = quick.call(stub, OrderServiceGrpc.getCreateWithRequestIdMethod(), REQUEST);

    assertThat(reply.response().getName()).isEqualTo("tea");
    assertThat(server.seen().stream().map(seen -> seen.request().getRequestId()).distinct())
        .hasSize(1);
  }

  @Test
  void anAttemptWithoutAnAnswerIsGivenUpAndRepeated() {
    server.answering(Answer.none());

    Reply<Order> reply = call(quick().attemptTimeout(Duration.ofMillis(200)).build());

    assertThat(reply.response().getName()).isEqualTo("tea");
    assertThat(keys()).hasSize(1);
    assertThat(server.seen()).hasSize(2);
  }

  @Test
  void aPushbackIsObeyedForEveryCode() {
    server.answering(Answer.of(Status.FAILED_PRECONDITION).with("grpc-retry-pushback-ms", "400"));
    long begin = System.nanoTime();

    assertThat(call(quick).response().getName()).isEqualTo("tea");

    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThan(Duration.ofMillis(400));
  }

  @ParameterizedTest
  @ValueSource(strings = {"-1", "never"})
  void aNegativePushbackEndsTheAttempts(String pushback) {
    server.answering(Answer.of(Status.UNAVAILABLE).with("grpc-retry-pushback-ms", pushback));

    CallFailedException failure = fail(quick);

    assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
    assertThat(failure.attempts()).isEqualTo(1);
    assertThat(server.seen()).hasSize(1);
  }

  @Test
  void retryInfoIsObeyedForEveryCode() {
    Metadata trailers =
        details(
            Code.FAILED_PRECONDITION,
            RetryInfo.newBuilder()
                .setRetryDelay(
                    com.google.protobuf.Duration.newBuilder().setNanos(400_000_000).build())
                .build());
    server.answering(new Answer(Optional.of(Status.FAILED_PRECONDITION), trailers));
    long begin = System.nanoTime();

    assertThat(call(quick).response().getName()).isEqualTo("tea");

    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThan(Duration.ofMillis(400));
  }

  @Test
  void oneDeadlineIsOverAllAttempts() {
    for (int i = 0; i < 100; i++) {
      server.answering(Answer.none());
    }
    RetryingCaller caller =
        quick().attemptTimeout(Duration.ofMillis(100)).within(Duration.ofMillis(500)).build();
    long begin = System.nanoTime();

    CallFailedException failure = fail(caller);

    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThan(Duration.ofMillis(350));
    assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
    assertThat(failure.outcome()).isEqualTo(Outcome.UNKNOWN);
    assertThat(failure.attempts()).isBetween(2, 5);
  }

  @Test
  void theStubsOwnDeadlineCountsIfItIsEarlier() {
    server.answering(Answer.none());

    CallFailedException failure =
        catchThrowableOfType(
            CallFailedException.class,
            () ->
                quick.call(
                    stub.withDeadlineAfter(200, TimeUnit.MILLISECONDS),
                    OrderServiceGrpc.getCreateOrderMethod(),
                    REQUEST));

    assertThat(failure.attempts()).isEqualTo(1);
  }

  @Test
  void aWaitBeyondTheDeadlineIsNotStarted() {
    server.answering(Answer.of(Status.UNAVAILABLE).with("grpc-retry-pushback-ms", "600000"));
    long begin = System.nanoTime();

    CallFailedException failure = fail(quick().within(Duration.ofMinutes(5)).build());

    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofMinutes(4));
    assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
  }

  @Test
  void aPushbackOfAnyLengthIsRead() {
    server.answering(
        Answer.of(Status.UNAVAILABLE).with("grpc-retry-pushback-ms", "" + Long.MAX_VALUE));
    assertThat(fail(quick).getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);

    assertThat(failureAfter(retryDelay(Long.MAX_VALUE, 0))).isEqualTo(Status.Code.UNAVAILABLE);
  }

  /** A delay that no protobuf library makes is as good as none. */
  @ParameterizedTest
  @CsvSource({"9223372036854775807,2147483647", "-9223372036854775808,-2147483648", "-1,0"})
  void anInvalidDurationIsIgnored(long seconds, int nanos) {
    server.answering(retryDelay(seconds, nanos));

    assertThat(call(quick).response().getName()).isEqualTo("tea");
  }

  private Status.Code failureAfter(Answer answer) {
    server.answering(answer);
    return fail(quick).getStatus().getCode();
  }

  private static Answer retryDelay(long seconds, int nanos) {
    Metadata trailers =
        details(
            Code.UNAVAILABLE,
            RetryInfo.newBuilder()
                .setRetryDelay(
                    com.google.protobuf.Duration.newBuilder()
                        .setSeconds(seconds)
                        .setNanos(nanos)
                        .build())
                .build());
    return new Answer(Optional.of(Status.UNAVAILABLE), trailers);
  }

  @Test
  void aCallThatCouldNotBeSentWasNeverExecuted() throws IOException {
    ManagedChannel nowhere = EchoServer.toNowhere();
    try {
      CallFailedException failure =
          catchThrowableOfType(
              CallFailedException.class,
              () ->
                  RetryingCaller.builder()
                      .within(Duration.ofSeconds(10))
                      .backoff(Duration.ofMinutes(1), Duration.ofMinutes(1))
                      .build()
                      .call(
                          OrderServiceGrpc.newBlockingStub(nowhere),
                          OrderServiceGrpc.getCreateOrderMethod(),
                          REQUEST));

      assertThat(failure.outcome()).isEqualTo(Outcome.NEVER_EXECUTED);
      assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
      assertThat(failure).hasMessageContaining("never executed");
    } finally {
      nowhere.shutdownNow();
    }
  }

  @Test
  void aCallThatFailsInItsCredentialsWasNeverExecuted() {
    CallCredentials none =
        new CallCredentials() {
          @Override
          public void applyRequestMetadata(
              RequestInfo info, Executor executor, MetadataApplier applier) {
            applier.fail(Status.UNAUTHENTICATED.withDescription("no token"));
          }
        };

    CallFailedException failure =
        catchThrowableOfType(
            CallFailedException.class,
            () ->
                quick.call(
                    stub.withCallCredentials(none),
                    OrderServiceGrpc.getCreateOrderMethod(),
                    REQUEST));

    assertThat(failure.outcome()).isEqualTo(Outcome.NEVER_EXECUTED);
  }

  @Test
  void onceAnAttemptWasSentNoLaterOneMakesItNeverExecuted() {
    server.answering(
        Answer.of(Status.UNAVAILABLE),
        new Answer(
            Optional.of(Status.INVALID_ARGUMENT),
            reason(Code.INVALID_ARGUMENT, WireNames.KEY_INVALID)));

    assertThat(fail(quick).outcome()).isEqualTo(Outcome.UNKNOWN);
  }

  @ParameterizedTest
  @EnumSource(
      value = Status.Code.class,
      names = {"INVALID_ARGUMENT", "PERMISSION_DENIED", "UNAUTHENTICATED"})
  void onceAnAttemptWasSentAnErrorWithoutTheLibrarysTrailersLeavesTheOutcomeUnknown(
      Status.Code code) {
    server.answering(Answer.of(Status.UNAVAILABLE), Answer.of(code.toStatus()));
    assertThat(fail(quick).outcome()).isEqualTo(Outcome.UNKNOWN);

    server.answering(
        Answer.of(Status.UNAVAILABLE),
        Answer.of(code.toStatus()).with(WireNames.OPERATION, UUID.randomUUID().toString()));
    assertThat(fail(quick).outcome()).isEqualTo(Outcome.EXECUTED);
  }

  @Test
  void anErrorOfAnIntentThatWasSentBeforeLeavesTheOutcomeUnknown() {
    server.answering(Answer.of(Status.INVALID_ARGUMENT));

    CallFailedException failure =
        catchThrowableOfType(
            CallFailedException.class,
            () ->
                quick.call(
                    Intent.create().sentBefore().on(stub),
                    OrderServiceGrpc.getCreateOrderMethod(),
                    REQUEST));

    assertThat(failure.outcome()).isEqualTo(Outcome.UNKNOWN);
  }

  @Test
  void aDemandForProtectionIsSentInEveryAttempt() {
    server.answering(Answer.of(Status.UNAVAILABLE));

    OrderServiceBlockingStub demanding =
        stub.withInterceptors(IdempotencyClientInterceptor.create().requireProtection());
    assertThat(
            quick.call(demanding, OrderServiceGrpc.getCreateOrderMethod(), REQUEST).isProtected())
        .isFalse();
    assertThat(call(quick).isProtected()).isFalse();

    assertThat(server.seen())
        .extracting(seen -> seen.header(WireNames.REQUIRED).orElse("none"))
        .containsExactly("true", "true", "none");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        WireNames.KEY_INVALID,
        WireNames.KEY_REQUIRED,
        WireNames.KEY_PROHIBITED,
        WireNames.CALLER_REQUIRED
      })
  void aCallThatIsRefusedBeforeTheHandlerWasNeverExecuted(String reason) {
    assertThat(failWith(Code.INVALID_ARGUMENT, reason).outcome()).isEqualTo(Outcome.NEVER_EXECUTED);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        WireNames.REPLAY_DENIED,
        WireNames.RECORD_UNREADABLE,
        WireNames.ANSWER_TOO_LARGE,
        WireNames.RESOURCE_GONE
      })
  void aDeniedReplayShowsThatTheCallWasExecuted(String reason) {
    assertThat(failWith(Code.PERMISSION_DENIED, reason).outcome()).isEqualTo(Outcome.EXECUTED);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        WireNames.KEY_REUSED,
        WireNames.IN_PROGRESS,
        WireNames.OUTCOME_UNKNOWN,
        WireNames.STORE_UNAVAILABLE
      })
  void aCallThatMayHaveRunBeforeOrElsewhereIsUnknown(String reason) {
    CallFailedException failure = failWith(Code.INVALID_ARGUMENT, reason);

    assertThat(failure.outcome()).isEqualTo(Outcome.UNKNOWN);
    assertThat(failure.operationId()).contains(OPERATION);
  }

  @ParameterizedTest
  @EnumSource(
      value = Status.Code.class,
      names = {"INVALID_ARGUMENT", "NOT_FOUND", "UNAUTHENTICATED"})
  void anErrorOfTheServiceIsTheAnswer(Status.Code code) {
    server.answering(Answer.of(code.toStatus().withDescription("no")));

    CallFailedException failure = fail(quick);

    assertThat(failure.outcome()).isEqualTo(Outcome.EXECUTED);
    assertThat(failure.attempts()).isEqualTo(1);
    assertThat(failure.getStatus().getDescription()).isEqualTo("no");
  }

  @ParameterizedTest
  @EnumSource(
      value = Status.Code.class,
      names = {"INTERNAL", "UNKNOWN", "CANCELLED", "UNIMPLEMENTED"})
  void anErrorThatMayComeFromGrpcIsUnknownAndNotRepeated(Status.Code code) {
    server.answering(Answer.of(code.toStatus()));

    CallFailedException failure = fail(quick);

    assertThat(failure.outcome()).isEqualTo(Outcome.UNKNOWN);
    assertThat(failure.attempts()).isEqualTo(1);
  }

  @Test
  void theFailedCallCanBeMadeAgainWithItsIntent() {
    server.answering(Answer.of(Status.INTERNAL));
    CallFailedException failure = fail(quick);

    Reply<Order> reply =
        quick.call(
            Intent.parse(failure.intent().toString()).on(stub),
            OrderServiceGrpc.getCreateOrderMethod(),
            REQUEST);

    assertThat(reply.response().getName()).isEqualTo("tea");
    assertThat(keys()).containsExactly(failure.intent().toString());
  }

  @Test
  void aFutureFailsAsTheBlockingCallThrows() {
    server.answering(Answer.of(Status.NOT_FOUND));

    assertThatThrownBy(() -> start(quick).get())
        .isInstanceOf(ExecutionException.class)
        .cause()
        .isInstanceOfSatisfying(
            CallFailedException.class,
            failure -> assertThat(failure.outcome()).isEqualTo(Outcome.EXECUTED));
  }

  @Test
  void aCancelledFutureEndsTheAttempts() {
    server.answering(Answer.none(), Answer.none());
    CompletableFuture<Reply<Order>> reply = start(quick);
    await().until(() -> server.seen().size() == 1);

    assertThat(reply.cancel(true)).isTrue();

    await().during(Duration.ofMillis(200)).until(() -> server.seen().size() == 1);
  }

  @Test
  void anInterruptedThreadStopsWaiting() throws Exception {
    server.answering(Answer.none());
    CompletableFuture<CallFailedException> thrown = new CompletableFuture<>();
    Thread caller =
        new Thread(
            () -> {
              CallFailedException failure = fail(quick);
              assertThat(Thread.currentThread().isInterrupted()).isTrue();
              thrown.complete(failure);
            });
    caller.start();
    await().until(() -> server.seen().size() == 1);

    caller.interrupt();

    CallFailedException failure = thrown.get(1, TimeUnit.MINUTES);
    assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.CANCELLED);
    assertThat(failure.outcome()).isEqualTo(Outcome.UNKNOWN);
  }

  @Test
  void laterAttemptsAreMadeInTheContextOfTheFirst() throws Exception {
    Context.CancellableContext context = Context.current().withCancellation();
    for (int i = 0; i < 1_000; i++) {
      server.answering(Answer.of(Status.UNAVAILABLE));
    }
    CompletableFuture<Reply<Order>> reply = context.call(() -> start(quick));
    await().until(() -> server.seen().size() > 2);

    context.cancel(null);

    assertThatThrownBy(reply::get)
        .cause()
        .isInstanceOfSatisfying(
            CallFailedException.class,
            failure -> assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.CANCELLED));
  }

  @Test
  void aMethodThatMustNotBeCalledTwiceIsRefused() {
    assertThatThrownBy(() -> quick.call(stub, OrderServiceGrpc.getRefuseKeysMethod(), REQUEST))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("prohibits keys");
    assertThatThrownBy(() -> quick.call(stub, OrderServiceGrpc.getWatchOrdersMethod(), REQUEST))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("not unary");
    assertThat(server.seen()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "CreateOfPattern",
        "CreateWithAssignedIdOnly",
        "CreateWithPresentField",
        "CreateOfContent",
        "HandleKeys"
      })
  void aCallThatCarriesNoKeyIsRefused(String method) {
    server.answering(Answer.of(Status.UNAVAILABLE));
    OrderRequest empty = OrderRequest.newBuilder().setPresentToken("").build();

    assertThatThrownBy(() -> quick.call(stub, EchoServer.method(method), empty))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no key");

    assertThat(server.seen()).isEmpty();
  }

  @Test
  void aCallWhoseKeyComesFromTheUserIsRepeated() {
    OrderRequest assigned = REQUEST.toBuilder().setId(UUID.randomUUID().toString()).build();
    for (String method :
        List.of("CreateWithAssignedIdOnly", "CreateWithAssignedId", "CreateOfContent")) {
      server.answering(Answer.of(Status.UNAVAILABLE));

      assertThat(quick.call(stub, EchoServer.method(method), assigned).response().getName())
          .isEqualTo("tea");
    }
    server.answering(Answer.of(Status.UNAVAILABLE));
    quick.call(Intent.parse("order-7").on(stub), EchoServer.method("CreateOfPattern"), REQUEST);

    assertThat(server.seen()).hasSize(8).noneMatch(seen -> seen.header("x-order-key").isPresent());
  }

  @Test
  void theDeadlineHoldsWhileTheCommonPoolIsBusy() throws Exception {
    server.answering(Answer.of(Status.UNAVAILABLE));
    assertThat(ForkJoinPool.getCommonPoolParallelism()).isGreaterThan(1);
    Semaphore busy = new Semaphore(0);
    int threads = ForkJoinPool.getCommonPoolParallelism() + 1;
    for (int i = 0; i < threads; i++) {
      ForkJoinPool.commonPool().execute(busy::acquireUninterruptibly);
    }
    try {
      assertThat(start(quick).get(1, TimeUnit.MINUTES).response().getName()).isEqualTo("tea");
    } finally {
      busy.release(threads);
    }
  }

  @Test
  void theDeadlineHoldsIfTheExecutorOfTheChannelIsStuck() {
    RetryingCaller caller = quick().within(Duration.ofMillis(100)).build();

    assertThatThrownBy(
            () ->
                caller
                    .callAsync(
                        stub.withExecutor(task -> {}),
                        OrderServiceGrpc.getCreateOrderMethod(),
                        REQUEST)
                    .get(1, TimeUnit.MINUTES))
        .cause()
        .isInstanceOfSatisfying(
            CallFailedException.class,
            failure -> assertThat(failure.outcome()).isEqualTo(Outcome.UNKNOWN));
  }

  @Test
  void anErrorOfAnInterceptorEndsTheCall() {
    server.answering(Answer.of(Status.UNAVAILABLE));
    AtomicInteger calls = new AtomicInteger();
    ClientInterceptor broken =
        new ClientInterceptor() {
          @Override
          public <RequestT, ResponseT> ClientCall<RequestT, ResponseT> interceptCall(
              MethodDescriptor<RequestT, ResponseT> method, CallOptions options, Channel next) {
            if (calls.getAndIncrement() == 0) {
              return next.newCall(method, options);
            }
            throw new NoSuchMethodError("on purpose");
          }
        };

    assertThatThrownBy(
            () ->
                quick
                    .callAsync(
                        stub.withInterceptors(broken),
                        OrderServiceGrpc.getCreateOrderMethod(),
                        REQUEST)
                    .get(1, TimeUnit.MINUTES))
        .hasRootCauseInstanceOf(NoSuchMethodError.class);
  }

  @ParameterizedTest
  @ValueSource(ints = {401, 403})
  void anAnswerOfAProxyIsNotTheAnswerOfTheService(int status) {
    try (HttpProxy proxy = new HttpProxy(status, "text/html");
        HttpProxy other = new HttpProxy(status, "application/grpc")) {
      for (HttpProxy each : List.of(proxy, other)) {
        CallFailedException failure =
            catchThrowableOfType(
                CallFailedException.class,
                () ->
                    quick.call(
                        OrderServiceGrpc.newBlockingStub(each.channel()),
                        OrderServiceGrpc.getCreateOrderMethod(),
                        REQUEST));

        assertThat(failure.outcome()).isEqualTo(Outcome.UNKNOWN);
      }
    }
  }

  @Test
  void invalidSettingsAreRefused() {
    RetryingCaller.Builder builder = RetryingCaller.builder();

    assertThatThrownBy(() -> builder.within(Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> builder.attemptTimeout(Duration.ofSeconds(-1)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> builder.backoff(Duration.ofSeconds(2), Duration.ofSeconds(1)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static RetryingCaller.Builder quick() {
    return RetryingCaller.builder().backoff(Duration.ofMillis(1), Duration.ofMillis(20));
  }

  private Reply<Order> call(RetryingCaller caller) {
    return caller.call(stub, OrderServiceGrpc.getCreateOrderMethod(), REQUEST);
  }

  private CompletableFuture<Reply<Order>> start(RetryingCaller caller) {
    return caller.callAsync(stub, OrderServiceGrpc.getCreateOrderMethod(), REQUEST);
  }

  private CallFailedException fail(RetryingCaller caller) {
    return catchThrowableOfType(CallFailedException.class, () -> call(caller));
  }

  private CallFailedException failWith(Code code, String reason) {
    Status status = Status.fromCodeValue(code.getNumber());
    server.answering(
        new Answer(Optional.of(status), reason(code, reason)).with("grpc-retry-pushback-ms", "-1"));
    return fail(quick);
  }

  private Set<String> keys() {
    return server.seen().stream()
        .map(Seen::key)
        .map(key -> key.orElse("none"))
        .collect(Collectors.toSet());
  }

  private static Metadata reason(Code code, String reason) {
    return details(
        code,
        ErrorInfo.newBuilder()
            .setDomain(WireNames.ERROR_DOMAIN)
            .setReason(reason)
            .putMetadata("operation", OPERATION.toString())
            .build());
  }

  private static Metadata details(Code code, Message detail) {
    Metadata trailers =
        StatusProto.toStatusRuntimeException(
                com.google.rpc.Status.newBuilder()
                    .setCode(code.getNumber())
                    .addDetails(Any.pack(detail))
                    .build())
            .getTrailers();
    return trailers == null ? new Metadata() : trailers;
  }
}
