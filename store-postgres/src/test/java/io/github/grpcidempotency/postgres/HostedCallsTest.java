package io.github.grpcidempotency.postgres;

import static io.github.grpcidempotency.postgres.ThingHandlers.insert;
import static io.github.grpcidempotency.thing.ThingHandler.answer;
import static io.github.grpcidempotency.thing.ThingHandler.newThing;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.procedure.InFlightPolicy;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.EventJournal;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Calls whose claims are transactions of the host, from the client to the database. */
class HostedCallsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final CreateThingRequest REQUEST = Things.named("a thing");

  private final KeyTable table = new KeyTable(database);
  private final ThreadTransactions host = new ThreadTransactions(database.app());
  private final EventJournal journal = new EventJournal();
  private final ExecutorService elsewhere = Executors.newCachedThreadPool();

  @AfterEach
  void everyConnectionIsGivenBack() {
    elsewhere.shutdown();
    database.awaitAllConnectionsBack();
  }

  @Test
  void whatAHandlerWritesThroughItsHostIsOneTransactionWithTheRecord() {
    try (ThingServer server = start(this::create);
        ThingClient client = ThingClient.to(server.port())) {
      Reply first = client.createThing(REQUEST);

      assertThat(first.isOk()).as(first.toString()).isTrue();
      assertThat(client.createThing(REQUEST).isReplay()).isTrue();
      assertThat(table.joined(client.user())).isTrue();
      assertThat(client.withoutKey().createThing(REQUEST).isOk()).isTrue();
      assertThat(table.thingsOf(client.user())).hasSize(2).contains(first.thingId());
    }
  }

  @Test
  void anAnswerOfAnotherThreadIsCommittedByTheThreadThatHasBegun() {
    ThingHandler handler =
        (request, answer) -> {
          Thing thing = newThing(request);
          insert(host.handle(), thing);
          elsewhere.execute(() -> answer(answer, thing));
        };
    try (ThingServer server = start(handler);
        ThingClient client = ThingClient.to(server.port())) {
      Reply first = client.createThing(REQUEST);

      assertThat(client.createThing(REQUEST).bytes()).isEqualTo(first.bytes());
      assertThat(client.withoutKey().createThing(REQUEST).isOk()).isTrue();
      assertThat(table.thingsOf(client.user())).hasSize(2).contains(first.thingId());
    }
  }

  @Test
  void aHandlerThatAnswersAndThenThrowsLeavesNothing() {
    AtomicBoolean fail = new AtomicBoolean(true);
    ThingHandler handler =
        (request, answer) -> {
          create(request, answer);
          if (fail.get()) {
            throw new IllegalStateException("on purpose");
          }
        };
    try (ThingServer server = start(handler);
        ThingClient client = ThingClient.to(server.port())) {
      assertThat(client.createThing(REQUEST).status().getCode()).isEqualTo(Status.Code.UNKNOWN);
      assertThat(client.withoutKey().createThing(REQUEST).status().getCode())
          .isEqualTo(Status.Code.UNKNOWN);
      assertThat(table.rowsOf(client.user())).isEmpty();
      assertThat(table.thingsOf(client.user())).isEmpty();

      fail.set(false);
      assertThat(client.createThing(REQUEST).isReplay()).isFalse();
    }
  }

  @Test
  void aSuspensionOfTheClaimsTransactionIsReported() {
    ThingHandler handler =
        (request, answer) -> {
          host.inNew(() -> host.handle().execute("SELECT 1"));
          create(request, answer);
        };
    try (ThingServer server = start(handler);
        ThingClient client = ThingClient.to(server.port())) {
      assertThat(client.createThing(REQUEST).isOk()).isTrue();

      assertThat(journal.only(IdempotencyEvent.Unprotected.class).cause())
          .isEqualTo(UnprotectedCause.TRANSACTION_SUSPENDED);
    }
  }

  @Test
  void aHandlerThatWritesElsewhereIsReported() {
    try (ThingServer server = start(ThingHandlers.on(database.app()));
        ThingClient client = ThingClient.to(server.port())) {
      assertThat(client.createThing(REQUEST).isOk()).isTrue();

      assertThat(journal.only(IdempotencyEvent.Unprotected.class).cause())
          .isEqualTo(UnprotectedCause.TRANSACTION_NOT_TAKEN);
    }
  }

  @Test
  void duplicatesWaitOnTwoServersAndOneOfThemRunsOnceTheFirstCallHasFailed() throws Exception {
    CompletableFuture<Boolean> mayFail = new CompletableFuture<>();
    AtomicBoolean first = new AtomicBoolean(true);
    ThingHandler handler =
        (request, answer) -> {
          if (first.getAndSet(false)) {
            mayFail.join();
            throw new IllegalStateException("on purpose");
          }
          create(request, answer);
        };
    try (ThingServer left = start(handler);
        ThingServer right = start(handler);
        ThingClient toLeft = ThingClient.to(left.port());
        ThingClient toRight = ThingClient.to(right.port()).like(toLeft)) {
      CompletableFuture<Reply> failing = call(toLeft);
      await().until(() -> left.runs() == 1);
      List<CompletableFuture<Reply>> duplicates = new ArrayList<>();
      for (int pair = 0; pair < 15; pair++) {
        duplicates.add(call(toLeft));
        duplicates.add(call(toRight));
      }
      await().until(() -> journal.all(IdempotencyEvent.Attached.class).size() == 30);

      mayFail.complete(true);

      assertThat(failing.get().status().getCode()).isEqualTo(Status.Code.UNKNOWN);
      List<Reply> replies = duplicates.stream().map(CompletableFuture::join).toList();
      assertThat(replies).allMatch(Reply::isOk);
      assertThat(replies).filteredOn(reply -> !reply.isReplay()).hasSize(1);
      assertThat(replies).extracting(Reply::bytes).containsOnly(replies.get(0).bytes());
      assertThat(left.runs() + right.runs()).isEqualTo(2);
      assertThat(table.thingsOf(toLeft.user())).hasSize(1);
      assertThat(journal.all(IdempotencyEvent.WaitEnded.class)).hasSize(30);
    }
  }

  private void create(CreateThingRequest request, StreamObserver<Thing> answer) {
    Thing thing = newThing(request);
    insert(host.handle(), thing);
    answer(answer, thing);
  }

  private CompletableFuture<Reply> call(ThingClient client) {
    return CompletableFuture.supplyAsync(() -> client.createThing(REQUEST), elsewhere);
  }

  private ThingServer start(ThingHandler handler) {
    return PostgresThingServer.on(database.app())
        .hostTransactions(host)
        .createThing(thing -> thing.inFlight(InFlightPolicy.attach(Duration.ofMinutes(1))))
        .transactional(handler)
        .listener(journal.listener())
        .start();
  }
}
