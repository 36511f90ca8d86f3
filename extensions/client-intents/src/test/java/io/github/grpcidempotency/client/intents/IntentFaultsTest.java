package io.github.grpcidempotency.client.intents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.client.CallFailedException;
import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.client.Reply;
import io.github.grpcidempotency.client.testing.v1.Order;
import io.github.grpcidempotency.client.testing.v1.OrderRequest;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc;
import io.github.grpcidempotency.shop.Databases;
import io.github.grpcidempotency.shop.EchoServer;
import io.github.grpcidempotency.shop.EchoServer.Answer;
import io.github.grpcidempotency.shop.HttpProxy;
import io.grpc.Channel;
import io.grpc.MethodDescriptor;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Nothing that is thrown ends a worker, and no target or intent delays the others. */
class IntentFaultsTest {
  private static final Databases.Database BUYER = ClientDatabase.buyer();

  private final ClientDatabase buyer = ClientDatabase.of(BUYER);
  private final EchoServer shop = new EchoServer();
  private final EchoServer silent = new EchoServer();
  private final Collected collected = new Collected();

  @AfterEach
  void close() {
    shop.close();
    silent.close();
    buyer.execute("DELETE FROM idempotency_client.intents");
    buyer.close();
  }

  @Test
  void anErrorOfTheDatabaseDoesNotEndAWorker() throws Exception {
    AtomicBoolean broken = new AtomicBoolean(true);
    AtomicInteger failures = new AtomicInteger();
    PGSimpleDataSource database =
        new PGSimpleDataSource() {
          @Override
          public Connection getConnection() throws SQLException {
            if (broken.get()) {
              failures.incrementAndGet();
              throw new NoSuchMethodError("on purpose");
            }
            return super.getConnection();
          }
        };
    database.setUrl(BUYER.url());
    write("shop", 1);

    try (IntentWorker worker = to(IntentStore.postgres(database)).build().start()) {
      await().until(() -> failures.get() > 1);
      broken.set(false);
      worker.wake();

      await().until(() -> collected.answers().size() == 1);
    }
  }

  @Test
  void anErrorOfACallbackIsRepeatedAfterAWait() throws Exception {
    AtomicInteger calls = new AtomicInteger();
    write("shop", 1);

    work(
        IntentWorker.builder(buyer.intents())
            .method("shop", stub(shop.channel(all -> all)), method(), failing(calls)),
        () -> calls.get() > 1 && buyer.keys().isEmpty());

    assertThat(shop.seen()).hasSize(1);
  }

  @Test
  void theDeadlineOfAStubDoesNotLimitItsIntents() throws Exception {
    write("shop", 1);

    work(
        IntentWorker.builder(buyer.intents())
            .method(
                "shop",
                stub(shop.channel(all -> all)).withDeadlineAfter(0, TimeUnit.SECONDS),
                method(),
                collected),
        () -> collected.answers().size() == 1);
  }

  @Test
  void aTargetThatDoesNotAnswerDoesNotDelayTheOthers() throws Exception {
    for (int i = 0; i < 40; i++) {
      silent.answering(Answer.none());
    }
    write("silent", 32);

    try (IntentWorker worker =
        to(buyer.intents())
            .method("silent", stub(silent.channel(all -> all)), method(), collected)
            .attemptTimeout(Duration.ofMinutes(5))
            .build()
            .start()) {
      await().until(() -> silent.seen().size() >= 8);
      write("shop", 1);
      worker.wake();

      await().until(() -> collected.answers().size() == 1);
      silent.close(); // ends the attempts
    }
  }

  @Test
  void aThreadThatBecomesFreeTakesADueIntentAtOnce() throws Exception {
    int intents = 8;
    AtomicInteger answered = new AtomicInteger();
    write("shop", intents);
    long begun = System.nanoTime();

    work(
        IntentWorker.builder(buyer.intents())
            .method("shop", stub(shop.channel(all -> all)), method(), slow(answered))
            .concurrency(1),
        () -> answered.get() == intents);

    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(6));
  }

  @ParameterizedTest
  @ValueSource(strings = {"text/html", "application/grpc"})
  void anAnswerOfAProxyIsRepeatedAfterAWait(String contentType) throws Exception {
    try (HttpProxy proxy = new HttpProxy(403, contentType)) {
      write("shop", 1);

      work(
          IntentWorker.builder(buyer.intents())
              .method("shop", stub(proxy.channel()), method(), collected),
          () ->
              buyer
                  .column("SELECT attempts > 1 FROM idempotency_client.intents")
                  .equals(List.of("t")));

      assertThat(collected.failures()).isEmpty();
    }
  }

  @Test
  void anIntentForWhichNoThreadStartsIsGivenBack() throws Exception {
    AtomicInteger missing = new AtomicInteger(2);
    write("shop", 1);

    work(
        to(buyer.intents())
            .threads(Executors.newCachedThreadPool(task -> new Unstarted(task, missing))),
        () -> collected.answers().size() == 1);
  }

  /** A thread for which the operating system has no room at first. */
  private static final class Unstarted extends Thread {
    private final AtomicInteger missing;

    Unstarted(Runnable task, AtomicInteger missing) {
      super(task);
      this.missing = missing;
    }

    @Override
    public synchronized void start() {
      if (missing.getAndDecrement() > 0) {
        throw new OutOfMemoryError("unable to create native thread");
      }
      super.start();
    }
  }

  private static void work(IntentWorker.Builder settings, Callable<Boolean> done) {
    IntentWorker worker = settings.build().start();
    try {
      await().until(done);
    } finally {
      worker.close();
    }
  }

  private IntentWorker.Builder to(IntentStore store) {
    return IntentWorker.builder(store)
        .method("shop", stub(shop.channel(all -> all)), method(), collected);
  }

  private static OrderServiceGrpc.OrderServiceStub stub(Channel channel) {
    return OrderServiceGrpc.newStub(channel);
  }

  private static MethodDescriptor<OrderRequest, Order> method() {
    return OrderServiceGrpc.getCreateOrderMethod();
  }

  private void write(String target, int intents) throws SQLException {
    try (Connection connection = buyer.connection()) {
      for (int i = 0; i < intents; i++) {
        Intent unused =
            buyer
                .intents()
                .write(
                    connection, target, method(), OrderRequest.newBuilder().setName("tea").build());
      }
    }
  }

  /** Returns a callback whose first call throws an error. */
  private static IntentCallback<Order> failing(AtomicInteger calls) {
    return callback(
        () -> {
          if (calls.getAndIncrement() == 0) {
            throw new NoSuchMethodError("on purpose");
          }
        });
  }

  /**
   * Returns a callback that takes so long that the worker has looked for other intents meanwhile.
   */
  private static IntentCallback<Order> slow(AtomicInteger answered) {
    return callback(
        () -> {
          LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200));
          answered.incrementAndGet();
        });
  }

  private static IntentCallback<Order> callback(Runnable call) {
    return new IntentCallback<>() {
      @Override
      public void answered(Intent intent, Reply<Order> reply) {
        call.run();
      }

      @Override
      public void failed(Intent intent, CallFailedException failure) {
        throw failure;
      }
    };
  }
}
