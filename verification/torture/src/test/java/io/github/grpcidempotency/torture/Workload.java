package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.fault.Pause;
import io.github.grpcidempotency.torture.History.Call;
import io.github.grpcidempotency.torture.History.Purpose;
import io.github.grpcidempotency.torture.Operation.Scope;
import io.github.grpcidempotency.torture.v1.EffectRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jdbi.v3.core.JdbiException;

/**
 * One client thread's work: one operation at a time, with retries until it is answered. Besides, it
 * does everything that clients should not do: call twice at once, cancel, use a key again for
 * something else, or use another user's key.
 */
final class Workload implements Runnable {
  private static final int MAX_TRIES = 10;
  private static final int REMEMBERED = 200;
  private static final int SESSIONS = 4;

  /** In a tenant, in none with a key that looks like one in that tenant, and both. */
  private static final List<String> PREFIXES = List.of("acme:", "acme/", "acme:/", "acme:acme/");

  private static final List<UUID> USERS =
      IntStream.range(1, 5).mapToObj(number -> new UUID(0, number)).toList();

  private final Plan plan;
  private final TortureClient client;
  private final List<ServerNode> servers;
  private final TortureDatabase database;
  private final Random random;
  private final BooleanSupplier goesOn;
  private final List<Operation> past = new ArrayList<>();
  private final List<CompletableFuture<Call>> hedges = new ArrayList<>();

  Workload(
      Plan plan,
      TortureClient client,
      List<ServerNode> servers,
      TortureDatabase database,
      long seed,
      BooleanSupplier goesOn) {
    this.plan = plan;
    this.client = client;
    this.servers = servers;
    this.database = database;
    this.random = new Random(seed);
    this.goesOn = goesOn;
  }

  @Override
  public void run() {
    while (goesOn.getAsBoolean()) {
      work(newOperation());
      askAgain();
    }
    hedges.forEach(CompletableFuture::join);
  }

  /** Clients ask again for answers that they got long ago. */
  private void askAgain() {
    List<CompletableFuture<Call>> calls = new ArrayList<>();
    while (!past.isEmpty() && chance(70)) {
      calls.add(client.call(again(Purpose.DUPLICATE), any(past), anyServer()));
    }
    calls.forEach(CompletableFuture::join);
  }

  private void work(Operation operation) {
    List<CompletableFuture<Call>> beside = new ArrayList<>();
    if (chance(plan.mix().expired())) {
      plantExpired(operation.scope());
    }
    CompletableFuture<Call> first = firstCall(operation);
    hedge(operation, first);
    while (chance(35)) {
      beside.add(client.call(Purpose.DUPLICATE, operation, anyServer()));
    }
    if (operation.request().getDelayMillis() > plan.lease().toMillis()) {
      beside.add(callLater(operation));
    }
    if (chance(8)) {
      beside.add(client.call(Purpose.MISMATCH, mismatch(operation), anyServer()));
    }
    if (operation.form() == Form.GUARDED && chance(plan.mix().waiting())) {
      awaitTogether(operation).forEach(beside::add);
    }
    if (chance(plan.mix().queueing())) {
      beside.addAll(queue(operation));
    }
    retry(operation, first.join());
    beside.forEach(CompletableFuture::join);
    remember(operation);
  }

  /** Several sessions wait for one operation, once a duplicate has returned its name. */
  private List<CompletableFuture<Call>> awaitTogether(Operation operation) {
    Call unused = client.call(Purpose.DUPLICATE, operation, anyServer()).join();
    ServerNode server = anyServer();
    return Stream.generate(() -> client.await(operation, server))
        .limit(SESSIONS)
        .flatMap(Optional::stream)
        .toList();
  }

  /**
   * Calls another method with the key, which waits, and then duplicates that wait behind it, on one
   * server.
   */
  private List<CompletableFuture<Call>> queue(Operation operation) {
    ServerNode server = anyServer();
    List<CompletableFuture<Call>> queued = new ArrayList<>();
    List<Form> waiting = plan.forms().stream().filter(Form::isAttached).toList();
    if (!waiting.isEmpty()) {
      queued.add(client.call(Purpose.MISMATCH, operation.through(any(waiting)), server));
    }
    queued.add(client.call(Purpose.DUPLICATE, operation, server));
    queued.add(client.call(Purpose.DUPLICATE, operation, server));
    return queued;
  }

  private void plantExpired(Scope scope) {
    try {
      database.plantExpired(scope);
    } catch (JdbiException databaseIsOut) {
      // then the key has no record
    }
  }

  /** Asks another server if the first has not answered for longer than a lease. */
  private void hedge(Operation operation, CompletableFuture<Call> first) {
    ServerNode server = anyServer();
    Executor later = CompletableFuture.delayedExecutor(afterLease(), TimeUnit.MILLISECONDS);
    hedges.removeIf(CompletableFuture::isDone);
    hedges.add(
        CompletableFuture.supplyAsync(first::isDone, later)
            .thenCompose(done -> done ? first : client.call(Purpose.DUPLICATE, operation, server)));
  }

  private long afterLease() {
    long lease = plan.lease().toMillis();
    return lease + random.nextLong(lease / 4);
  }

  /** Calls again when the lease of a slow handler would have ended without renewal. */
  private CompletableFuture<Call> callLater(Operation operation) {
    long lease = plan.lease().toMillis();
    Executor later =
        CompletableFuture.delayedExecutor(lease + random.nextLong(lease), TimeUnit.MILLISECONDS);
    return CompletableFuture.supplyAsync(this::anyServer, later)
        .thenCompose(server -> client.call(Purpose.DUPLICATE, operation, server));
  }

  private CompletableFuture<Call> firstCall(Operation operation) {
    ServerNode server = anyServer();
    return chance(8)
        ? client.callAndCancel(
            Purpose.WORK,
            operation,
            server,
            random.nextInt(operation.request().getDelayMillis() + 20))
        : client.call(Purpose.WORK, operation, server);
  }

  private void retry(Operation operation, Call first) {
    Call last = first;
    for (int tries = 1; !isFinal(last) && tries < MAX_TRIES; tries++) {
      Pause.of(Duration.ofMillis(20L + random.nextInt(60 * tries)));
      last = client.call(again(Purpose.WORK), operation, anyServer()).join();
    }
  }

  /** Some clients say that they ask again. */
  private Purpose again(Purpose otherwise) {
    return chance(50) ? Purpose.RETRY : otherwise;
  }

  private static boolean isFinal(Call call) {
    return call.isOk() || call.isTerminal() || call.reason().equals("IDEMPOTENCY_KEY_REUSED");
  }

  private Operation newOperation() {
    UUID user = any(USERS);
    if (chance(5) && !past.isEmpty()) {
      Operation other = any(past);
      return other.as(new Scope(user, other.scope().key()));
    }
    String key =
        chance(10) && !past.isEmpty()
            ? any(past).scope().key()
            : new UUID(random.nextLong(), random.nextLong()).toString();
    if (chance(15)) {
      key = any(PREFIXES) + new Scope(user, key).sent();
    }
    EffectRequest request =
        EffectRequest.newBuilder()
            .setPayload(Long.toHexString(random.nextLong()))
            .setDelayMillis(delay())
            .setFailPercent(chance(plan.mix().failing()) ? 30 : 0)
            .setTerminalPercent(chance(plan.mix().terminal()) ? 50 : 0)
            .build();
    return new Operation(new Scope(user, key), any(plan.forms()), request);
  }

  private Operation mismatch(Operation operation) {
    Form other = any(plan.forms());
    return other == operation.form()
        ? operation.saying("something else " + random.nextInt())
        : operation.through(other);
  }

  /** Most handlers are quick; some outlast a lease, or the deadlines of all hurried callers. */
  private int delay() {
    int dice = random.nextInt(100);
    if (dice < plan.mix().slow() && chance(plan.mix().hurried() > 0 ? 50 : 0)) {
      return (int) plan.lease().multipliedBy(12).dividedBy(5).toMillis();
    }
    if (dice < plan.mix().slow()) {
      return (int) Duration.ofMillis(plan.lease().toMillis() * 6 / 5).toMillis();
    }
    return dice < 75 ? random.nextInt(10) : random.nextInt(150);
  }

  private void remember(Operation operation) {
    if (past.size() < REMEMBERED) {
      past.add(operation);
    } else {
      past.set(random.nextInt(REMEMBERED), operation);
    }
  }

  /** Returns a server, mostly one that serves. */
  private ServerNode anyServer() {
    ServerNode chosen = any(servers);
    for (int i = 0; i < 3 && !chosen.isServing(); i++) {
      chosen = any(servers);
    }
    return chosen;
  }

  private boolean chance(int percent) {
    return random.nextInt(100) < percent;
  }

  private <T> T any(List<T> choices) {
    return choices.get(random.nextInt(choices.size()));
  }
}
