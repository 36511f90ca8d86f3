package io.github.grpcidempotency.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.client.WorkServer.Wait;
import io.github.grpcidempotency.client.testing.v1.Order;
import io.github.grpcidempotency.client.testing.v1.OrderRequest;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import io.grpc.CallCredentials;
import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A client waits until the work behind an answer has ended. */
class AwaitTest {
  private static final MethodDescriptor<OrderRequest, Order> CREATE =
      OrderServiceGrpc.getCreateOrderMethod();
  private static final OrderRequest REQUEST = OrderRequest.newBuilder().setName("tea").build();
  private static final Metadata.Key<String> KEY = ascii("idempotency-key");
  private static final Metadata.Key<String> TOKEN = ascii("x-token");

  private final WorkServer server = new WorkServer();
  private final OrderServiceBlockingStub stub = OrderServiceGrpc.newBlockingStub(server.channel());
  private final RetryingCaller caller = quick().build();

  @AfterEach
  void close() {
    server.close();
  }

  @Test
  void oneCallWaitsUntilTheWorkIsCompleted() throws Exception {
    CompletableFuture<Reply<Order>> reply = start(caller);
    await().until(() -> server.waiting() == 1);
    assertThat(reply).isNotDone();

    server.end(Reply.Status.COMPLETED);

    assertThat(reply.get().status()).contains(Reply.Status.COMPLETED);
    assertThat(reply.get().response().getSecret()).isEqualTo("secret");
    assertThat(reply.get().replayed()).isFalse();
    assertThat(server.waits())
        .extracting(wait -> wait.request().getName())
        .containsExactly(reply.get().operationId().orElseThrow().toString());
    assertThat(server.calls()).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource(
      value = Reply.Status.class,
      names = {"COMPLETED", "FAILED"})
  void anOperationWithoutOurMetadataHasFailedIfItHasAnError(Reply.Status status) {
    server.withPlainOperations();
    CompletableFuture<Reply<Order>> reply = start(caller);
    await().until(() -> server.waiting() == 1);

    server.end(status);

    assertThat(reply)
        .succeedsWithin(Duration.ofSeconds(10))
        .satisfies(done -> assertThat(done.status()).contains(status));
  }

  @Test
  void workThatHasEndedIsNotAwaited() {
    Intent intent = Intent.create();
    Reply<Order> answer = caller.call(intent.on(stub), CREATE, REQUEST);
    assertThat(answer.status()).contains(Reply.Status.PROCESSING);
    server.end(Reply.Status.COMPLETED);

    Reply<Order> replay = caller.callAndAwait(intent.on(stub), CREATE, REQUEST);

    assertThat(replay.status()).contains(Reply.Status.COMPLETED);
    assertThat(replay.replayed()).isTrue();
    assertThat(server.waits()).isEmpty();
  }

  @Test
  void anAnswerWithoutAStatusIsReturnedAsItIs() {
    try (EchoServer plain = new EchoServer()) {
      OrderServiceBlockingStub toPlain =
          OrderServiceGrpc.newBlockingStub(plain.channel(builder -> builder));

      Reply<Order> reply = caller.callAndAwait(toPlain, CREATE, REQUEST);

      assertThat(reply.response().getName()).isEqualTo("tea");
      assertThat(reply.status()).isEmpty();
      assertThat(plain.seen()).hasSize(1);
    }
  }

  @Test
  void aCallWithoutAnAnswerFailsAsWithoutAWait() {
    server.failingCalls(Status.INVALID_ARGUMENT.withDescription("no"));

    assertThatThrownBy(() -> caller.callAndAwait(stub, CREATE, REQUEST))
        .isInstanceOfSatisfying(
            CallFailedException.class,
            failure ->
                assertThat(failure.outcome()).isEqualTo(CallFailedException.Outcome.EXECUTED));
    assertThatThrownBy(
            () -> caller.callAndAwait(stub, OrderServiceGrpc.getRefuseKeysMethod(), REQUEST))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void everyWaitHasADeadlineInsideTheWhole() throws Exception {
    CompletableFuture<Reply<Order>> reply =
        start(quick().attemptTimeout(Duration.ofMillis(400)).build());
    await().until(() -> server.waits().size() > 3);
    server.end(Reply.Status.COMPLETED);

    assertThat(reply.get().status()).contains(Reply.Status.COMPLETED);
    assertThat(server.waits())
        .allSatisfy(
            wait -> {
              assertThat(wait.deadline()).isLessThanOrEqualTo(Duration.ofMillis(400));
              assertThat(timeout(wait)).isBetween(Duration.ofMillis(200), Duration.ofMillis(360));
            });
    assertThat(server.calls()).isEqualTo(1);
  }

  @Test
  void aServerThatDoesNotWaitIsCalledAfterAPause() {
    server.withoutPatience();
    long begin = System.nanoTime();
    CompletableFuture<Reply<Order>> reply = start(caller);

    await().until(() -> server.waits().size() > 3);

    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThan(Duration.ofMillis(500));
    server.end(Reply.Status.COMPLETED);
    assertThat(reply).succeedsWithin(Duration.ofSeconds(10));
  }

  @Test
  void aWaitHasTheCallsCredentialsButNotItsKey() {
    CallCredentials token =
        new CallCredentials() {
          @Override
          public void applyRequestMetadata(
              RequestInfo info, Executor executor, MetadataApplier applier) {
            Metadata headers = new Metadata();
            headers.put(TOKEN, "for " + info.getMethodDescriptor().getBareMethodName());
            applier.apply(headers);
          }
        };
    CompletableFuture<Reply<Order>> reply =
        caller.callAndAwaitAsync(
            Intent.create().on(stub).withCallCredentials(token), CREATE, REQUEST);
    await().until(() -> server.waiting() == 1);
    server.end(Reply.Status.COMPLETED);

    assertThat(reply).succeedsWithin(Duration.ofSeconds(10));
    assertThat(server.waits())
        .singleElement()
        .satisfies(
            wait -> {
              assertThat(wait.headers().get(TOKEN)).isEqualTo("for WaitOperation");
              assertThat(wait.headers().containsKey(KEY)).isFalse();
            });
  }

  @Test
  void aWaitOutlivesARestartOfItsServer() {
    CompletableFuture<Reply<Order>> reply = start(caller);
    await().until(() -> server.waiting() == 1);

    server.restart();

    await().until(() -> server.waiting() == 1 && server.waits().size() > 1);
    server.end(Reply.Status.COMPLETED);
    assertThat(reply)
        .succeedsWithin(Duration.ofSeconds(10))
        .satisfies(done -> assertThat(done.status()).contains(Reply.Status.COMPLETED));
    assertThat(server.runs()).isEqualTo(1);
  }

  @Test
  void aCallIsRepeatedAfterThePushbackOfAFullServer() {
    server.failingWaits(Status.RESOURCE_EXHAUSTED.asRuntimeException(pushback(300)));
    long begin = System.nanoTime();

    CompletableFuture<Reply<Order>> reply = start(caller);
    await().until(() -> server.waiting() == 1);

    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThan(Duration.ofMillis(300));
    server.end(Reply.Status.COMPLETED);
    assertThat(reply).succeedsWithin(Duration.ofSeconds(10));
    assertThat(server.calls()).isEqualTo(1);
  }

  @Test
  void aServerThatIsFullForLongerThanTheDeadlineEndsTheWait() {
    server.failingWaits(Status.RESOURCE_EXHAUSTED.asRuntimeException(pushback(600_000)));

    AwaitFailedException failure = failure(start(quick().within(Duration.ofMinutes(5)).build()));

    assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
  }

  @ParameterizedTest
  @EnumSource(
      value = Status.Code.class,
      names = {
        "UNIMPLEMENTED",
        "PERMISSION_DENIED",
        "UNAUTHENTICATED",
        "INVALID_ARGUMENT",
        "NOT_FOUND"
      })
  void aServerThatRefusesAWaitEndsIt(Status.Code code) {
    server.failingWaits(code.toStatus().asRuntimeException());

    AwaitFailedException failure = failure(start(caller));

    assertThat(failure.getStatus().getCode()).isEqualTo(code);
    assertThat(failure.reply(CREATE).response().getSecret()).isEqualTo("secret");
    assertThat(server.calls()).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource(
      value = Status.Code.class,
      names = {"CANCELLED", "UNKNOWN", "INTERNAL"})
  void afterAFaultThatMayPassTheServerIsAskedToWaitAgain(Status.Code code) {
    server.failingWaits(code.toStatus().asRuntimeException(), code.toStatus().asRuntimeException());
    CompletableFuture<Reply<Order>> reply = start(caller);

    await().until(() -> server.waiting() == 1);

    assertThat(server.calls()).isEqualTo(1);
    assertThat(server.runs()).isEqualTo(1);
    server.end(Reply.Status.COMPLETED);
    assertThat(reply).succeedsWithin(Duration.ofSeconds(10));
  }

  @Test
  void anUnknownOperationEndsTheWait() {
    server.failingWaits(WorkServer.operationUnknown());

    AwaitFailedException failure = failure(start(caller));

    assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.NOT_FOUND);
    assertThat(failure.reply(CREATE).status()).contains(Reply.Status.PROCESSING);
    assertThat(server.calls()).isEqualTo(1);
  }

  @Test
  void atTheDeadlineTheFailureContainsTheLastKnownStatus() {
    Intent intent = Intent.create();

    AwaitFailedException failure =
        catchThrowableOfType(
            AwaitFailedException.class,
            () ->
                quick()
                    .within(Duration.ofMillis(700))
                    .build()
                    .callAndAwait(intent.on(stub), CREATE, REQUEST));

    assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
    assertThat(failure.intent()).isEqualTo(intent);
    assertThat(failure.reply(CREATE).response().getSecret()).isEqualTo("secret");
    assertThat(failure.reply(CREATE).status()).contains(Reply.Status.PROCESSING);
    assertThat(failure)
        .hasMessageContaining("answered by the service")
        .hasMessageContaining("PROCESSING")
        .hasMessageNotContaining("secret");
    assertThatThrownBy(() -> failure.reply(OrderServiceGrpc.getGetOrderMethod()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("GetOrder");
    await().until(() -> server.waiting() == 0);
  }

  @Test
  void anAnswerThatNamesNoOperationIsReturnedAsItIs() {
    server.silentOfOperations();

    assertThat(caller.callAndAwait(stub, CREATE, REQUEST).status())
        .contains(Reply.Status.PROCESSING);
    assertThat(server.waits()).isEmpty();
  }

  @Test
  void aCancelledFutureCancelsItsWait() {
    CompletableFuture<Reply<Order>> reply = start(caller);
    await().until(() -> server.waiting() == 1);

    assertThat(reply.cancel(true)).isTrue();

    await().until(() -> server.waiting() == 0);
    await().during(Duration.ofMillis(300)).until(() -> server.waits().size() == 1);
  }

  @Test
  void aCancelledFutureCancelsItsCall() {
    try (EchoServer silent = new EchoServer().answering(EchoServer.Answer.none())) {
      ManagedChannel toSilent = silent.channel(builder -> builder);
      CompletableFuture<Reply<Order>> reply =
          caller.callAndAwaitAsync(OrderServiceGrpc.newBlockingStub(toSilent), CREATE, REQUEST);
      await().until(() -> silent.seen().size() == 1);

      assertThat(reply.cancel(true)).isTrue();

      toSilent.shutdown();
      await().until(toSilent::isTerminated);
      assertThat(silent.seen()).hasSize(1);
    }
  }

  @Test
  void aCancelledContextEndsTheWait() throws Exception {
    Context.CancellableContext context = Context.current().withCancellation();
    CompletableFuture<Reply<Order>> reply = context.call(() -> start(caller));
    await().until(() -> server.waiting() == 1);

    context.cancel(null);

    assertThat(failure(reply).getStatus().getCode()).isEqualTo(Status.Code.CANCELLED);
    assertThat(server.runs()).isEqualTo(1);
  }

  @Test
  void anInterruptedThreadStopsWaitingAndKeepsTheAnswer() throws Exception {
    CompletableFuture<AwaitFailedException> thrown = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              AwaitFailedException failure =
                  catchThrowableOfType(
                      AwaitFailedException.class, () -> caller.callAndAwait(stub, CREATE, REQUEST));
              assertThat(Thread.currentThread().isInterrupted()).isTrue();
              thrown.complete(failure);
            });
    thread.start();
    await().until(() -> server.waiting() == 1);

    thread.interrupt();

    AwaitFailedException failure = thrown.get(10, TimeUnit.SECONDS);
    assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.CANCELLED);
    assertThat(failure.reply(CREATE).response().getName()).isEqualTo("tea");
    await().until(() -> server.waiting() == 0);
  }

  @Test
  void manyWaitsNeedNoThreadEach() {
    int before = ManagementFactory.getThreadMXBean().getThreadCount();

    List<CompletableFuture<Reply<Order>>> replies =
        Stream.generate(() -> start(caller)).limit(200).toList();
    await().until(() -> server.waiting() == 200);

    assertThat(ManagementFactory.getThreadMXBean().getThreadCount()).isLessThan(before + 50);
    server.end(Reply.Status.COMPLETED);
    assertThat(replies)
        .allSatisfy(reply -> assertThat(reply).succeedsWithin(Duration.ofSeconds(10)));
  }

  private static RetryingCaller.Builder quick() {
    return RetryingCaller.builder().backoff(Duration.ofMillis(10), Duration.ofMillis(200));
  }

  private CompletableFuture<Reply<Order>> start(RetryingCaller waiting) {
    return waiting.callAndAwaitAsync(stub, CREATE, REQUEST);
  }

  private static AwaitFailedException failure(CompletableFuture<Reply<Order>> reply) {
    try {
      throw new AssertionError("it has not failed: " + reply.get(20, TimeUnit.SECONDS));
    } catch (ExecutionException failure) {
      assertThat(failure).cause().isInstanceOf(AwaitFailedException.class);
      return (AwaitFailedException) Objects.requireNonNull(failure.getCause());
    } catch (InterruptedException | TimeoutException failure) {
      throw new AssertionError(failure);
    }
  }

  private static Duration timeout(Wait wait) {
    com.google.protobuf.Duration timeout = wait.request().getTimeout();
    return Duration.ofSeconds(timeout.getSeconds(), timeout.getNanos());
  }

  private static Metadata pushback(long millis) {
    Metadata trailers = new Metadata();
    trailers.put(ascii("grpc-retry-pushback-ms"), Long.toString(millis));
    return trailers;
  }

  private static Metadata.Key<String> ascii(String name) {
    return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
  }
}
