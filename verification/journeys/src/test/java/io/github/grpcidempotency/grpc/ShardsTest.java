package io.github.grpcidempotency.grpc;

import static io.github.grpcidempotency.spi.FailurePhase.NOTHING_SENT;
import static io.github.grpcidempotency.store.FailureCause.NO_CONNECTION;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.shard.Shards;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.store.SetupException;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.test.LogLines;
import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ForwardingStore;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.ThingService;
import io.github.grpcidempotency.thing.Transport;
import io.github.grpcidempotency.work.IdempotentWork;
import io.github.grpcidempotency.work.WorkRefusedException;
import io.grpc.Status;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Callers who live on several stores. The tenant is the name of the shard. */
class ShardsTest {
  private static final CreateThingRequest REQUEST =
      CreateThingRequest.newBuilder().setName("a thing").build();

  private final InMemoryIdempotencyStore east = new InMemoryIdempotencyStore();
  private final UnreliableStore west =
      new UnreliableStore(new InMemoryIdempotencyStore(Duration.ofSeconds(1)));
  private final List<ThingServer> servers = new CopyOnWriteArrayList<>();
  private final Set<String> renewalsFailed = ConcurrentHashMap.newKeySet();
  private final List<String> settledOn = new CopyOnWriteArrayList<>();

  @AfterEach
  void stop() {
    servers.forEach(ThingServer::close);
  }

  @Test
  void theSameKeyOfOneUserInTwoTenantsIsTwoOperationsOnTwoShards() {
    ThingServer server = serve(Caller::tenant);
    ThingClient toEast = client(server).in("east");
    ThingClient toWest = toEast.in("west");

    Reply inEast = toEast.createOther(REQUEST);
    Reply inWest = toWest.createOther(REQUEST);

    assertThat(inEast.isReplay() || inWest.isReplay()).isFalse();
    assertThat(toEast.createOther(REQUEST).bytes()).isEqualTo(inEast.bytes());
    assertThat(toWest.createOther(REQUEST).bytes()).isEqualTo(inWest.bytes());
    assertThat(west.claims()).isEqualTo(2);
    assertThat(server.runs()).isEqualTo(2);
  }

  @Test
  void aCallerWithoutAShardIsRefusedAndTheHandlerDoesNotRun() {
    List<Function<Caller, Optional<String>>> choices =
        List.of(
            caller -> Optional.empty(),
            caller -> Optional.of("nowhere"),
            caller -> null,
            caller -> {
              throw new IllegalStateException("the directory is out");
            });
    for (Function<Caller, Optional<String>> choice : choices) {
      ThingServer server = serve(choice);

      Reply refused = client(server).createOther(REQUEST);

      assertThat(refused.status().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
      assertThat(refused.reason()).isEqualTo("IDEMPOTENCY_STORE_UNAVAILABLE");
      assertThat(refused.reasonMetadata()).containsEntry("cause", "no_shard");
      assertThat(refused.retryAfter()).isPresent();
      assertThat(server.runs()).isZero();
    }
  }

  @Test
  void anOutageOfOneShardIsNoneOfTheOther() {
    ThingServer server = serve(Caller::tenant);
    west.failClaims(NOTHING_SENT, NO_CONNECTION);

    assertThat(client(server).in("east").createOther(REQUEST).isOk()).isTrue();
    assertThat(client(server).in("west").createOther(REQUEST).reasonMetadata())
        .containsEntry("cause", "no_connection");
    assertThat(server.runs()).isEqualTo(1);
  }

  @Test
  void aRefusalIsLoggedWithItsShard() {
    ThingServer server = serve(Caller::tenant);
    west.failClaims(NOTHING_SENT, NO_CONNECTION);
    try (LogLines log = LogLines.listen()) {
      client(server).in("west").createOther(REQUEST);

      assertThat(log.all())
          .filteredOn(line -> line.contains("decision=refuse"))
          .hasSize(1)
          .allMatch(line -> line.contains(" shard=west "));
    }
  }

  @Test
  void theShardOfACallIsResolvedOnce() {
    AtomicInteger asked = new AtomicInteger();
    ThingServer server =
        serve(caller -> Optional.of(asked.getAndIncrement() % 2 == 0 ? "east" : "west"));

    Reply reply = client(server).createOther(REQUEST);

    assertThat(reply.isOk()).isTrue();
    assertThat(asked).hasValue(1);
    assertThat(settledOn).containsExactly("east");
    assertThat(west.claims()).isZero();
  }

  @Test
  void leasesThatCannotBeRenewedOnOneShardAreNotLost() throws InterruptedException {
    ThingServer server = serve(Caller::tenant);
    server.things().keepRunning();
    CompletableFuture<Reply> slow =
        CompletableFuture.supplyAsync(() -> client(server).in("west").createOther(REQUEST));
    ThingService.Running running = server.things().nextRunning();
    west.failClaims(NOTHING_SENT, NO_CONNECTION);
    await().until(() -> renewalsFailed.contains("west"));
    int renewals = west.renewals();
    west.recover();
    await().until(() -> west.renewals() > renewals);

    running.succeed();

    assertThat(slow.join().isOk()).isTrue();
    assertThat(server.events()).doesNotContain(Kind.LEASE_LOST);
    assertThat(renewalsFailed).containsExactly("west");
  }

  @Test
  void workIsDoneOnItsCallersShard() throws Exception {
    Procedure kind = Procedure.named("jobs/write").execution(Execution.RESERVED).build();
    Caller caller = Caller.of(UUID.randomUUID());
    try (IdempotentWork work = IdempotentWork.builder(sharded(Caller::tenant), kind).build()) {
      for (int run = 0; run < 2; run++) {
        boolean replayed =
            work.run(
                    kind,
                    caller.inTenant("west"),
                    "token",
                    REQUEST,
                    Thing.parser(),
                    Thing::getDefaultInstance)
                .replayed();
        assertThat(replayed).isEqualTo(run == 1);
      }
      assertThat(west.claims()).isEqualTo(2);
      assertThatExceptionOfType(WorkRefusedException.class)
          .isThrownBy(
              () ->
                  work.run(
                      kind,
                      caller.inTenant("nowhere"),
                      "token",
                      REQUEST,
                      Thing.parser(),
                      () -> {
                        throw new AssertionError("it must not run");
                      }));
    }
  }

  @Test
  void everyProblemIsListedWithTheNameOfItsShard() {
    Shards shards =
        Shards.of(
            Map.of(
                "east", new Wrong(east, new SetupException(List.of("no table", "no rights"))),
                "west", new Wrong(east, new IllegalStateException("no pool")),
                "far", new Wrong(east, outOfReach())),
            Caller::tenant);

    assertThatExceptionOfType(SetupException.class)
        .isThrownBy(() -> check(shards))
        .satisfies(
            wrong ->
                assertThat(wrong.problems())
                    .containsExactly(
                        "shard east: no table",
                        "shard east: no rights",
                        "shard west: no pool",
                        "shard far: its database was not checked, because it cannot be reached:"
                            + " out of reach"));
  }

  @Test
  void aShardWithoutTransactionsIsNamedIfAProcedureNeedsThem() {
    assertThatExceptionOfType(SetupException.class)
        .isThrownBy(
            () ->
                ThingServer.on(Transport.IN_PROCESS)
                    .shards(sharded(Caller::tenant))
                    .createThing(thing -> thing.execution(Execution.TRANSACTIONAL))
                    .start())
        .withMessageContaining(
            "shard east: idempotency.testing.v1.ThingService/CreateThing: it is TRANSACTIONAL, but"
                + " InMemoryIdempotencyStore does not support transactions")
        .withMessageContaining("but UnreliableStore does not support transactions");
  }

  @Test
  void aShardThatIsOutOfReachAtTheStartIsCheckedBeforeItsFirstCall() {
    Wrong later = new Wrong(new InMemoryIdempotencyStore(), outOfReach());
    ThingServer server = start(Shards.of(Map.of("east", east, "west", later), Caller::tenant));
    ThingClient toWest = client(server).in("west");

    assertThat(client(server).in("east").createOther(REQUEST).isOk()).isTrue();
    assertThat(toWest.createOther(REQUEST).reasonMetadata())
        .containsEntry("cause", "no_connection");
    later.failure = Optional.of(new SetupException(List.of("no table")));
    try (LogLines log = LogLines.listen()) {
      assertThat(toWest.createOther(REQUEST).reasonMetadata()).containsEntry("cause", "other");
      assertThat(log.all())
          .anyMatch(
              line ->
                  line.contains("ERROR")
                      && line.contains("shard west: its database failed a check of the start-up")
                      && line.contains("no table"));
    }
    later.failure = Optional.empty();
    assertThat(toWest.createOther(REQUEST).isOk()).isTrue();
    assertThat(server.runs()).isEqualTo(2);
  }

  @Test
  void aServiceNoneOfWhoseShardsCanBeReachedDoesNotStart() {
    Wrong unreachable = new Wrong(east, outOfReach());
    Shards shards = Shards.of(Map.of("east", unreachable, "west", unreachable), Caller::tenant);

    assertThatExceptionOfType(StoreException.class).isThrownBy(() -> check(shards));
  }

  @Test
  void aShardHasAUsableNameOfItsOwn() {
    for (String name : List.of("", "a b", ".a")) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> Shards.of(Map.of(name, west), Caller::tenant));
    }
    assertThatIllegalArgumentException().isThrownBy(() -> Shards.of(Map.of(), Caller::tenant));
  }

  @Test
  void anInterceptorHasAStoreOrShardsButNotBoth() {
    assertThatExceptionOfType(SetupException.class)
        .isThrownBy(
            () ->
                IdempotencyInterceptor.builder(Procedures.of(), Optional::empty)
                    .store(east)
                    .shards(sharded(Caller::tenant))
                    .build())
        .withMessageContaining("the interceptor has a store and shards");
  }

  private static void check(Shards shards) {
    IdempotencyInterceptor.builder(Procedures.of(), Optional::empty).shards(shards).build().close();
  }

  private Shards sharded(Function<Caller, Optional<String>> choice) {
    return Shards.of(Map.of("east", east, "west", west), choice);
  }

  private ThingServer serve(Function<Caller, Optional<String>> choice) {
    return start(sharded(choice));
  }

  private ThingServer start(Shards shards) {
    ThingServer server =
        ThingServer.on(Transport.IN_PROCESS)
            .shards(shards)
            .describe(
                Procedure.of(ThingServer.CREATE_OTHER)
                    .execution(Execution.RESERVED)
                    .outage(OutagePolicy.FAIL_CLOSED)
                    .build())
            .listener(
                event -> {
                  if (event.kind() == Kind.RENEWAL_FAILED) {
                    renewalsFailed.add(event.shard().orElse("none"));
                  } else if (event.kind() == Kind.SETTLED) {
                    settledOn.add(event.shard().orElse("none"));
                  }
                })
            .start();
    servers.add(server);
    return server;
  }

  private static ThingClient client(ThingServer server) {
    return ThingClient.on(server.channel());
  }

  private static StoreException outOfReach() {
    return StoreException.of(NOTHING_SENT, NO_CONNECTION, "out of reach");
  }

  /** A store whose check at start-up fails until a test says otherwise. */
  private static final class Wrong extends ForwardingStore {
    private volatile Optional<RuntimeException> failure;

    Wrong(IdempotencyStore store, RuntimeException failure) {
      super(store);
      this.failure = Optional.of(failure);
    }

    @Override
    public void verify(Collection<RecordedProcedure> procedures, Optional<String> shard) {
      if (failure.isPresent()) {
        throw failure.get();
      }
      super.verify(procedures, shard);
    }
  }
}
