package io.github.grpcidempotency.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.client.Waits.Wait;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** A client waits until the work behind an answer has ended. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class AwaitTest {
  private static final MethodDescriptor<OrderRequest, Order> CREATE =
      OrderServiceGrpc.getCreateOrderMethod();
  private static final OrderRequest REQUEST = OrderRequest.newBuilder().setName("tea").build();
  private static final Metadata.Key<String> KEY = ascii("idempotency-key");
  private static final Metadata.Key<String> TOKEN = ascii("x-token");

  private static final Databases.Database shop = Databases.packingShop();

  private final Waits waits = new Waits();
  private final ShopServer server = ShopServer.packing(shop, waits);
  private final OrderServiceBlockingStub stub =
      OrderServiceGrpc.newBlockingStub(server.channel(builder -> builder));
  private final RetryingCaller caller = quick().build();

  @BeforeEach
  void begin() {
    server.reset();
    waits.reset();
  }

  @AfterAll
  void close() {
    server.close();
  }

  @ParameterizedTest
  @CsvSource({"packed, COMPLETED", "out of stock, FAILED"})
  void oneCallWaitsUntilTheWorkHasEnded(String state, Reply.Status status) {
    CompletableFuture<Reply<Order>> reply = start(caller);
    await().until(() -> waits.running() == 1);
    assertThat(reply).isNotDone();

    outbox(state);

    Reply<Order> done = reply.join();
    assertThat(done.status()).contains(status);
    assertThat(done.response().getSecret()).isEqualTo("secret");
    assertThat(done.replayed()).isFalse();
    assertThat(waits.seen())
        .extracting(wait -> wait.request().getName())
        .containsExactly(done.operationId().orElseThrow().toString());
    assertThat(server.runs()).isEqualTo(1);
  }

  @Test
  void workThatHasEndedIsNotAwaited() {
    Intent intent = Intent.create();
    Reply<Order> answer = caller.call(intent.on(stub), CREATE, REQUEST);
    assertThat(answer.status()).contains(Reply.Status.PROCESSING);
    outbox("packed");

    Reply<Order> replay = caller.callAndAwait(intent.on(stub), CREATE, REQUEST);

    assertThat(replay.status()).contains(Reply.Status.COMPLETED);
    assertThat(replay.replayed()).isTrue();
    assertThat(waits.seen()).isEmpty();
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
    assertThatThrownBy(() -> caller.callAndAwait(stub, CREATE, OrderRequest.getDefaultInstance()))
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
    await().until(() -> waits.seen().size() > 3);
    outbox("packed");

    assertThat(reply.get().status()).contains(Reply.Status.COMPLETED);
    assertThat(waits.seen())
        .allSatisfy(
            wait -> {
              assertThat(wait.deadline()).isLessThanOrEqualTo(Duration.ofMillis(400));
              assertThat(timeout(wait)).isBetween(Duration.ofMillis(200), Duration.ofMillis(360));
            });
    assertThat(server.runs()).isEqualTo(1);
  }

  @Test
  void aServerThatDoesNotWaitIsCalledAfterAPause() {
    waits.withoutPatience();
    long begin = System.nanoTime();
    CompletableFuture<Reply<Order>> reply = start(caller);

    await().until(() -> waits.seen().size() > 3);

    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThan(Duration.ofMillis(500));
    outbox("packed");
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
    await().until(() -> waits.running() == 1);
    outbox("packed");

    assertThat(reply).succeedsWithin(Duration.ofSeconds(10));
    assertThat(waits.seen())
        .singleElement()
        .satisfies(
            wait -> {
              assertThat(wait.headers().get(TOKEN)).isEqualTo("for WaitOperation");
              assertThat(wait.headers().containsKey(KEY)).isFalse();
            });
  }

  @Test
  void aWaitOutlivesARestartOfItsServer() throws Exception {
    CompletableFuture<Reply<Order>> reply = start(caller);
    await().until(() -> waits.running() == 1);

    server.restart();

    await().until(() -> waits.running() == 1 && waits.seen().size() > 1);
    outbox("packed");
    assertThat(reply)
        .succeedsWithin(Duration.ofSeconds(10))
        .satisfies(done -> assertThat(done.status()).contains(Reply.Status.COMPLETED));
    assertThat(server.runs()).isEqualTo(1);
  }

  @Test
  void aCallIsRepeatedAfterThePushbackOfAFullServer() {
    waits.failing(Status.RESOURCE_EXHAUSTED.asRuntimeException(pushback(300)));
    long begin = System.nanoTime();

    CompletableFuture<Reply<Order>> reply = start(caller);
    await().until(() -> waits.running() == 1);

    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThan(Duration.ofMillis(300));
    outbox("packed");
    assertThat(reply).succeedsWithin(Duration.ofSeconds(10));
    assertThat(server.runs()).isEqualTo(1);
  }

  @Test
  void aServerThatIsFullForLongerThanTheDeadlineEndsTheWait() {
    waits.failing(Status.RESOURCE_EXHAUSTED.asRuntimeException(pushback(600_000)));

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
    waits.failing(code.toStatus().asRuntimeException());

    AwaitFailedException failure = failure(start(caller));

    assertThat(failure.getStatus().getCode()).isEqualTo(code);
    assertThat(failure.reply(CREATE).response().getSecret()).isEqualTo("secret");
    assertThat(server.runs()).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource(
      value = Status.Code.class,
      names = {"CANCELLED", "UNKNOWN", "INTERNAL"})
  void afterAFaultThatMayPassTheServerIsAskedToWaitAgain(Status.Code code) {
    waits.failing(code.toStatus().asRuntimeException(), code.toStatus().asRuntimeException());
    CompletableFuture<Reply<Order>> reply = start(caller);

    await().until(() -> waits.running() == 1);

    assertThat(server.runs()).isEqualTo(1);
    outbox("packed");
    assertThat(reply).succeedsWithin(Duration.ofSeconds(10));
  }

  @Test
  void aRecordThatIsGoneEndsTheWaitAndRunsNothing() {
    CompletableFuture<Reply<Order>> reply =
        start(quick().attemptTimeout(Duration.ofSeconds(1)).build());
    await().until(() -> waits.running() == 1);

    shop.execute("UPDATE idempotency.idempotency_keys SET expires = now() - interval '1 second'");

    AwaitFailedException failure = failure(reply);
    assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.NOT_FOUND);
    assertThat(failure.reply(CREATE).status()).contains(Reply.Status.PROCESSING);
    assertThat(server.runs()).isEqualTo(1);
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
    await().until(() -> waits.running() == 0);
  }

  @Test
  void aCancelledFutureCancelsItsWait() {
    CompletableFuture<Reply<Order>> reply = start(caller);
    await().until(() -> waits.running() == 1);

    assertThat(reply.cancel(true)).isTrue();

    await().until(() -> waits.running() == 0);
    await().during(Duration.ofMillis(300)).until(() -> waits.seen().size() == 1);
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
    await().until(() -> waits.running() == 1);

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
    await().until(() -> waits.running() == 1);

    thread.interrupt();

    AwaitFailedException failure = thrown.get(10, TimeUnit.SECONDS);
    assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.CANCELLED);
    assertThat(failure.reply(CREATE).response().getName()).isEqualTo("tea");
    await().until(() -> waits.running() == 0);
  }

  @Test
  void manyWaitsNeedNoThreadEach() {
    int before = ManagementFactory.getThreadMXBean().getThreadCount();

    List<CompletableFuture<Reply<Order>>> replies = new ArrayList<>();
    while (replies.size() < 200) { // not all at once, because each running handler has a thread
      Stream.generate(() -> start(caller)).limit(20).forEach(replies::add);
      await().until(() -> waits.running() == replies.size());
    }

    assertThat(ManagementFactory.getThreadMXBean().getThreadCount()).isLessThan(before + 50);
    outbox("packed");
    assertThat(replies)
        .allSatisfy(reply -> assertThat(reply).succeedsWithin(Duration.ofSeconds(10)));
  }

  private static void outbox(String state) {
    shop.execute("UPDATE shop.outbox SET state = '%s' WHERE state = 'pending'".formatted(state));
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
