package io.github.grpcidempotency.torture;

import static java.util.Comparator.comparing;

import io.github.grpcidempotency.torture.FaultSchedule.Planned;
import io.github.grpcidempotency.torture.History.Call;
import io.github.grpcidempotency.torture.History.Change;
import io.github.grpcidempotency.torture.History.Fault;
import io.github.grpcidempotency.torture.History.Finding;
import io.github.grpcidempotency.torture.History.Purpose;
import io.github.grpcidempotency.torture.History.Replication;
import io.github.grpcidempotency.torture.Operation.Scope;
import io.github.grpcidempotency.torture.v1.EffectRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jdbi.v3.core.JdbiException;

/** One run: servers, clients and faults, and then a probe of every key. */
final class Torture implements AutoCloseable {
  private static final Duration PROGRESS_EVERY = Duration.ofSeconds(10);
  private static final Duration RECOVERY = Duration.ofSeconds(30);
  private static final Duration MAX_EXTRA = Duration.ofMinutes(2);

  /** A run with fewer starts takes no longer without it. */
  private static final Duration WORTH_AN_ARCHIVE = Duration.ofMinutes(1);

  private static final int MAX_ANSWERS_BETWEEN_FAULTS = 40;

  /** A server that is started again takes processors from the one that works. */
  private static final Duration BESIDE_FAILOVERS = Duration.ofSeconds(8);

  private final Plan plan;
  private final long seed;
  private final TortureDatabase database;
  private final List<ServerNode> servers = new ArrayList<>();
  private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(2);
  private final TortureClient client;
  private final FaultInjector faults;
  private final Progress progress;
  private final Optional<RollingUpgrade> upgrade;
  private final long leastAnswers;
  private final Set<Finding> leftOpen = ConcurrentHashMap.newKeySet();

  /**
   * Starts the servers.
   *
   * @param mutant is put in front of their class path
   * @param log receives their output
   */
  Torture(Plan plan, long seed, TortureDatabase database, Optional<Mutant> mutant, Path log) {
    this(plan, seed, database, mutant, Optional.empty(), log);
  }

  /**
   * Starts servers of the previous version, to be replaced while they work.
   *
   * @param log receives their output
   */
  Torture(Plan plan, long seed, TortureDatabase database, RollingUpgrade upgrade, Path log) {
    this(plan, seed, database, Optional.empty(), Optional.of(upgrade), log);
  }

  private Torture(
      Plan plan,
      long seed,
      TortureDatabase database,
      Optional<Mutant> mutant,
      Optional<RollingUpgrade> upgrade,
      Path log) {
    this.plan = plan;
    this.upgrade = upgrade;
    this.leastAnswers = mutant.isPresent() ? 0 : 2 * Exercise.LEAST_ANSWERS;
    this.seed = seed;
    this.database = database;
    this.client = new TortureClient(plan.lease(), plan.mix(), timer);
    ServerClasses classes = upgrade.map(RollingUpgrade::previous).orElseGet(ServerClasses::current);
    if (mutant.isEmpty() && plan.length().compareTo(WORTH_AN_ARCHIVE) >= 0) {
      ServerNode.archive(
          plan.servers().get(plan.servers().size() - 1),
          classes,
          database.road(plan.servers().size() - 1),
          database.pastUrl(),
          plan.lease(),
          log,
          this::callEverything);
    }
    IntStream.range(0, plan.servers().size())
        .parallel()
        .mapToObj(
            i ->
                new ServerNode(
                    i,
                    plan.servers().get(i),
                    classes,
                    database.road(i),
                    database.pastUrl(),
                    plan.lease(),
                    plan.livesOf(i, seed),
                    mutant.map(Mutant::overlay),
                    log,
                    options(i, mutant)))
        .forEachOrdered(servers::add);
    this.faults = new FaultInjector(servers, database.postgres());
    this.progress = new Progress(client, faults, database);
  }

  private static List<String> options(int server, Optional<Mutant> mutant) {
    return server == 1 ? mutant.map(Mutant::options).orElse(List.of()) : List.of();
  }

  private void callEverything(ServerNode server) {
    for (Form form : plan.forms()) {
      Scope scope = new Scope(UUID.randomUUID(), UUID.randomUUID().toString());
      Operation operation = new Operation(scope, form, EffectRequest.getDefaultInstance());
      for (int i = 0; i < 3; i++) {
        Call unused = client.call(Purpose.WORK, operation, server).join();
      }
    }
  }

  /** Runs, and returns what happened. */
  History run() throws InterruptedException {
    var ticks =
        timer.scheduleAtFixedRate(
            progress::print,
            PROGRESS_EVERY.toMillis(),
            PROGRESS_EVERY.toMillis(),
            TimeUnit.MILLISECONDS);
    var housekeeping =
        timer.scheduleWithFixedDelay(
            () -> {
              servers.forEach(ServerNode::forgetRoundTrips);
              faults.noteSprungTraps();
            },
            100,
            100,
            TimeUnit.MILLISECONDS);
    var looks =
        timer.scheduleWithFixedDelay(
            this::noteTransactionsLeftOpen, 1_000, 1_000, TimeUnit.MILLISECONDS);
    workUnderFaults();
    TimeUnit.MILLISECONDS.sleep(2 * plan.lease().toMillis() + 1_000);
    new Prober(client, servers).probe(List.copyOf(client.made()));
    ticks.cancel(false);
    housekeeping.cancel(false);
    looks.cancel(false);
    return new History(
        plan.lease(),
        List.copyOf(client.made()),
        database.effects(),
        database.changes(),
        faults.happened(),
        database.answers(),
        database.refusedRecordings(),
        database.preempted(),
        database.batches(),
        servers.stream().flatMap(server -> server.lived().stream()).toList(),
        new Replication(database.postgres().mayLose(), database.postgres().timelines()),
        Stream.concat(
                leftOpen.stream().sorted(comparing(Finding::at)), database.findings().stream())
            .toList());
  }

  /** A failover may keep a session of a server that is gone. */
  private void noteTransactionsLeftOpen() {
    if (plan.failsOver()) {
      return;
    }
    try {
      leftOpen.addAll(database.leftOpen(plan.lease().multipliedBy(7).plusSeconds(1)));
    } catch (JdbiException databaseIsOut) {
      // then no transaction is open
    }
  }

  @Override
  public void close() {
    faults.close();
    timer.shutdownNow();
    servers.forEach(ServerNode::close);
  }

  private void workUnderFaults() throws InterruptedException {
    AtomicBoolean goesOn = new AtomicBoolean(true);
    List<Thread> workers = new ArrayList<>();
    Random seeds = new Random(seed);
    for (int i = 0; i < plan.clients(); i++) {
      Thread worker =
          new Thread(
              new Workload(plan, client, servers, database, seeds.nextLong(), goesOn::get),
              "client-" + i);
      worker.start();
      workers.add(worker);
    }
    Optional<Thread> upgrading =
        upgrade.map(rolling -> rolling.start(plan.length(), servers, faults));
    breakThings();
    awaitAnswers();
    if (upgrading.isPresent()) {
      upgrading.get().join();
    }
    faults.awaitEnd();
    servers.forEach(ServerNode::disarm);
    goesOn.set(false);
    for (Thread worker : workers) {
      worker.join();
    }
  }

  /** Failovers come one after the other; what servers suffer does not wait for them. */
  private void breakThings() throws InterruptedException {
    Plan failovers = plan.onlyFailovers(true);
    Plan others = plan.onlyFailovers(false);
    if (failovers.faults().isEmpty()) {
      breakThings(others, Optional.of(this::awaitRecovery));
      return;
    }
    ExecutorService beside = Executors.newSingleThreadExecutor();
    try {
      Future<?> ofServers =
          beside.submit(
              () -> {
                breakThings(others.pausing(BESIDE_FAILOVERS), Optional.empty());
                return null;
              });
      breakThings(failovers, Optional.of(this::awaitRecovery));
      awaitRecovery(); // so that something is written on the last time line
      ofServers.get();
    } catch (ExecutionException failure) {
      throw new IllegalStateException("a fault could not be injected", failure);
    } finally {
      beside.shutdownNow();
    }
  }

  /** Waits for what the last fault has left. */
  private interface Recovery {
    void await() throws InterruptedException;
  }

  /**
   * Injects faults. Goes on for longer while a kind of fault is still missing, and injects that, or
   * while no kill has led to a takeover.
   */
  private void breakThings(Plan part, Optional<Recovery> recovery) throws InterruptedException {
    long end = System.nanoTime() + plan.length().toNanos();
    boolean mayBeVacuous = leastAnswers == 0 && !part.failsOver();
    long extra = mayBeVacuous ? 3 * plan.length().toNanos() : MAX_EXTRA.toNanos();
    long last = end + Math.min(extra, MAX_EXTRA.toNanos());
    FaultSchedule schedule = new FaultSchedule(part, seed);
    if (schedule.isEmpty()) {
      TimeUnit.NANOSECONDS.sleep(plan.length().toNanos());
      return;
    }
    while (System.nanoTime() < last) {
      boolean overtime = System.nanoTime() >= end;
      Optional<FaultKind> missing = overtime ? missing(part) : Optional.empty();
      if (overtime && missing.isEmpty()) {
        return;
      }
      Planned planned = missing.map(schedule::nextOf).orElseGet(schedule::next);
      TimeUnit.MILLISECONDS.sleep(planned.pause().toMillis());
      if (recovery.isPresent() && !planned.kind().isLight() && !planned.overlaps()) {
        recovery.get().await();
      }
      if (planned.kind().isFailover()) {
        faults.run(planned); // the next one needs what it leaves
      } else {
        faults.begin(planned);
      }
    }
  }

  /** A slow machine takes longer than planned for a run that proves something. */
  private void awaitAnswers() throws InterruptedException {
    long end = System.nanoTime() + MAX_EXTRA.toNanos();
    while (client.answered() < leastAnswers && System.nanoTime() < end) {
      TimeUnit.MILLISECONDS.sleep(100);
    }
  }

  private Optional<FaultKind> missing(Plan part) {
    Set<FaultKind> seen = faults.happened().stream().map(Fault::kind).collect(Collectors.toSet());
    return part.faults().keySet().stream()
        .filter(kind -> !seen.contains(kind))
        .filter(kind -> kind != FaultKind.SKEW || ServerJvm.canSkewClocks())
        .findFirst()
        .or(() -> isTakeoverMissing(part) ? Optional.of(FaultKind.KILL) : Optional.empty());
  }

  /** A kill may hit a server that holds no key just then. */
  private boolean isTakeoverMissing(Plan part) {
    if (leastAnswers == 0 || !part.faults().containsKey(FaultKind.KILL)) {
      return false;
    }
    try {
      return database.changes().stream().noneMatch(Change::isTakeover);
    } catch (JdbiException databaseIsOut) {
      return true; // as far as one can see, and another kill does no harm
    }
  }

  /** Waits for answers, so that the next fault hits something that works. */
  private void awaitRecovery() throws InterruptedException {
    long enough = client.answered() + Math.min(plan.clients(), MAX_ANSWERS_BETWEEN_FAULTS);
    long end = System.nanoTime() + RECOVERY.toNanos();
    while (client.answered() < enough && System.nanoTime() < end) {
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }
}
