package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.fault.Pause;
import io.github.grpcidempotency.torture.FaultSchedule.Planned;
import io.github.grpcidempotency.torture.FaultSchedule.Severity;
import io.github.grpcidempotency.torture.History.Fault;
import io.github.grpcidempotency.torture.v1.HogRequest;
import io.github.grpcidempotency.torture.v1.TortureServiceGrpc;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Injects faults at their times. A fault whose server is still busy with another one is skipped,
 * because a dead process cannot be stopped.
 */
final class FaultInjector implements AutoCloseable {
  private static final int MAX_TRAPS = 3;

  private final List<ServerNode> servers;
  private final FaultyPostgres postgres;
  private final Queue<Fault> happened = new ConcurrentLinkedQueue<>();
  private final Queue<ArmedCut> armed = new ConcurrentLinkedQueue<>();
  private final ReentrantLock database = new ReentrantLock();
  private final ExecutorService workers = Executors.newCachedThreadPool();
  private final List<Throwable> failures = new CopyOnWriteArrayList<>();

  private record ArmedCut(Planned planned, FaultProxy.Trap trap) {}

  FaultInjector(List<ServerNode> servers, FaultyPostgres postgres) {
    this.servers = servers;
    this.postgres = postgres;
  }

  /** Injects a fault, without waiting for its end. */
  void begin(Planned planned) {
    workers.execute(
        () -> {
          try {
            inject(planned);
          } catch (RuntimeException broken) {
            failures.add(broken);
          }
        });
  }

  /** Injects a fault, and waits until what it broke has recovered. */
  void run(Planned planned) {
    inject(planned);
  }

  /**
   * Replaces a server's process by one of another version, as soon as no other fault has hit it.
   *
   * @param kills whether the process is killed, rather than closed
   */
  void replace(ServerNode server, ServerClasses classes, boolean kills) {
    server.fault().lock();
    try {
      long start = now();
      String detail = Duration.ZERO.toString();
      if (kills) {
        server.kill();
      } else {
        detail = server.shutDown();
      }
      server.use(classes);
      server.restart(Duration.ZERO);
      FaultKind kind = kills ? FaultKind.KILL : FaultKind.CLOSE;
      happened.add(new Fault(kind, server.index(), detail, start, now()));
    } finally {
      server.fault().unlock();
    }
  }

  /** Waits until every fault has ended. */
  void awaitEnd() throws InterruptedException {
    workers.shutdown();
    boolean ended = workers.awaitTermination(5, TimeUnit.MINUTES);
    if (!failures.isEmpty()) {
      throw new IllegalStateException("a fault could not be injected", failures.get(0));
    }
    if (!ended) {
      throw new IllegalStateException("a fault does not end");
    }
    noteSprungTraps();
  }

  /** Returns what has happened so far. */
  List<Fault> happened() {
    noteSprungTraps();
    return List.copyOf(happened);
  }

  @Override
  public void close() {
    workers.shutdownNow();
  }

  private void inject(Planned wanted) {
    Planned planned = aimed(wanted);
    ServerNode server = servers.get(planned.server());
    switch (planned.kind()) {
      case KILL -> exclusively(server.fault(), () -> kill(server, planned, Duration.ZERO));
      case SKEW -> {
        if (ServerJvm.canSkewClocks()) {
          exclusively(server.fault(), () -> kill(server, planned, planned.skew()));
        }
      }
      case STOP -> exclusively(server.fault(), () -> stop(server, planned));
      case DATABASE_STOP,
          DATABASE_KILL,
          READ_ONLY,
          SWITCHOVER,
          PRIMARY_KILL,
          PRIMARY_FREEZE,
          MANAGER_FREEZE,
          LAGGING_REPLICAS ->
          exclusively(database, () -> happened.add(postgres.inject(planned)));
      case CUT_BEFORE, CUT_AFTER -> arm(server, planned);
      case CUT_ALL -> {
        server.proxy().cutAll();
        note(planned, "", now());
      }
      case SWALLOW -> exclusively(server.fault(), () -> swallow(server, planned));
      case SWALLOW_CLAIM -> hold(server, planned);
      case EXHAUST -> exhaust(server, planned);
      case REFUSE -> exclusively(server.fault(), () -> refuse(server, planned));
      case CLOSE -> exclusively(server.fault(), () -> close(server, planned));
      case REFUSE_LOGINS ->
          exclusively(
              server.fault(), () -> exclusively(database, () -> refuseLogins(server, planned)));
    }
  }

  /** What breaks connections hits a server whose connections can be broken. */
  private Planned aimed(Planned planned) {
    return planned.kind().needsProxy() && !servers.get(planned.server()).isProxied()
        ? servers.stream()
            .filter(ServerNode::isProxied)
            .findFirst()
            .map(server -> planned.at(server.index()))
            .orElse(planned)
        : planned;
  }

  private void kill(ServerNode server, Planned planned, Duration skew) {
    long start = now();
    server.kill();
    Pause.of(planned.length());
    server.restart(skew);
    note(planned, skew.toString(), start);
  }

  private void stop(ServerNode server, Planned planned) {
    long start = now();
    server.stop();
    Pause.of(planned.length());
    server.resume();
    note(planned, planned.length().toString(), start);
  }

  private void close(ServerNode server, Planned planned) {
    long start = now();
    String left = server.shutDown();
    Pause.of(planned.length());
    server.restart(Duration.ZERO);
    note(planned, left, start);
  }

  private void refuse(ServerNode server, Planned planned) {
    long start = now();
    server.proxy().refuse();
    Pause.of(planned.length());
    server.proxy().restore();
    note(planned, planned.length().toString(), start);
  }

  private void refuseLogins(ServerNode server, Planned planned) {
    long start = now();
    postgres.allowLogins(false);
    server.proxy().cutAll();
    Pause.of(planned.length());
    postgres.allowLogins(true);
    note(planned, planned.length().toString(), start);
  }

  private void hold(ServerNode server, Planned planned) {
    if (isArmedEnough(planned)) {
      return;
    }
    FaultProxy.Trap trap =
        planned.is(Severity.SWALLOWS_QUESTION)
            ? server.proxy().holdBefore(planned.statement(), planned.length())
            : server.proxy().holdAfter(planned.statement(), planned.length());
    armed.add(new ArmedCut(planned, planned.is(Severity.CUTS) ? trap.andCut() : trap));
  }

  private void arm(ServerNode server, Planned planned) {
    if (isArmedEnough(planned)) {
      return;
    }
    FaultProxy.Trap trap =
        planned.kind() == FaultKind.CUT_BEFORE
            ? server.proxy().cutBefore(planned.statement())
            : server.proxy().cutAfter(planned.statement());
    armed.add(new ArmedCut(planned, trap));
  }

  private boolean isArmedEnough(Planned planned) {
    long alike =
        armed.stream()
            .filter(cut -> cut.planned().server() == planned.server())
            .filter(cut -> cut.planned().kind() == planned.kind())
            .filter(cut -> cut.planned().statement().equals(planned.statement()))
            .count();
    return alike >= MAX_TRAPS;
  }

  /** A trap that was set springs when the statement comes, between two looks. */
  synchronized void noteSprungTraps() {
    armed.removeIf(
        cut -> {
          OptionalLong sprung = cut.trap().sprung();
          sprung.ifPresent(
              at ->
                  happened.add(
                      new Fault(
                          cut.planned().kind(),
                          cut.planned().server(),
                          cut.planned().statement(),
                          at,
                          at + cut.planned().length().toMillis())));
          return sprung.isPresent();
        });
  }

  private void swallow(ServerNode server, Planned planned) {
    long start = now();
    server.proxy().swallow();
    Pause.of(planned.length());
    server.proxy().restore();
    note(planned, planned.length().toString(), start);
  }

  private void exhaust(ServerNode server, Planned planned) {
    long start = now();
    HogRequest request =
        HogRequest.newBuilder()
            .setConnections(TortureServer.POOL_SIZE)
            .setMillis((int) planned.length().toMillis())
            .build();
    try {
      TortureServiceGrpc.newBlockingStub(server.channel())
          .withDeadlineAfter(planned.length().toMillis() + 10_000, TimeUnit.MILLISECONDS)
          .hog(request);
      note(planned, planned.length().toString(), start);
    } catch (StatusRuntimeException serverIsDown) {
      // then its pool is not to be exhausted
    }
  }

  private void exclusively(ReentrantLock lock, Runnable fault) {
    if (lock.tryLock()) {
      try {
        fault.run();
      } finally {
        lock.unlock();
      }
    }
  }

  private void note(Planned planned, String detail, long start) {
    int whose = planned.kind().isOfDatabase() ? -1 : planned.server();
    happened.add(new Fault(planned.kind(), whose, detail, start, now()));
  }

  private static long now() {
    return System.currentTimeMillis();
  }
}
