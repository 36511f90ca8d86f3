package io.github.grpcidempotency.internal.runtime;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toSet;

import io.github.grpcidempotency.background.DaemonThreads;
import io.github.grpcidempotency.background.RateLimitedLog;
import io.github.grpcidempotency.background.RepeatedTask;
import io.github.grpcidempotency.internal.record.ReplayStatus;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.store.spi.OperationCatalog;
import io.github.grpcidempotency.store.spi.OperationCatalog.OwnedResource;
import io.github.grpcidempotency.store.spi.RecordedProcedure;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.LoggerFactory;

/**
 * Lets calls wait for the end of the asynchronous work behind resources, without a thread or a
 * connection. While there are waiters, the status of all resources of a procedure is read every
 * quarter of a second, in one query if possible. A resolver of the service may be slow. It is
 * therefore called on a separate thread for its procedure, and delays only the waiters of that
 * procedure. Thread-safe.
 */
public final class WorkWatch implements AutoCloseable {
  private static final Duration INTERVAL = Duration.ofMillis(250);

  private final RateLimitedLog log = RateLimitedLog.of(LoggerFactory.getLogger(WorkWatch.class));
  private final Supplier<OperationCatalog> catalog;
  private final Map<String, Procedure> procedures;
  private final WaitQueues<Work, Waiter> queues = new WaitQueues<>(work -> {});
  private final AtomicBoolean looking = new AtomicBoolean();
  private final Set<String> resolving = ConcurrentHashMap.newKeySet();
  private final ExecutorService resolvers =
      Executors.newCachedThreadPool(DaemonThreads.named("idempotency-resolver"));
  private final ScheduledExecutorService looks = DaemonThreads.newTimer("idempotency-work");
  private final ScheduledExecutorService timer = DaemonThreads.newTimer("idempotency-work-limit");

  /** The asynchronous work behind a resource, as seen by one procedure. */
  private record Work(String procedure, OwnedResource resource) {}

  /** One waiting call. */
  private static final class Waiter {
    private final Runnable ended;
    private Optional<Future<?>> timeout = Optional.empty();

    private Waiter(Runnable ended) {
      this.ended = ended;
    }
  }

  WorkWatch(Supplier<OperationCatalog> catalog, Map<String, Procedure> procedures) {
    this.catalog = catalog;
    this.procedures = procedures;
  }

  /**
   * Waits for the end of asynchronous work.
   *
   * @param ended called when the work has ended, the limit is over, or this object is closed
   * @param begun receives a task that ends the wait, before the wait starts; after the task has
   *     run, {@code ended} is not called
   * @return whether the wait has started; if not, this object is closed, and nothing is called
   */
  public boolean await(
      Procedure procedure,
      OwnedResource resource,
      Duration limit,
      Runnable ended,
      Consumer<Runnable> begun) {
    Work work = new Work(procedure.name(), resource);
    Waiter waiter = new Waiter(ended);
    begun.accept(() -> leave(work, waiter));
    boolean waits =
        queues.add(
            work,
            waiter,
            () ->
                waiter.timeout =
                    Optional.of(
                        timer.schedule(
                            () -> timeOut(work, waiter), limit.toMillis(), TimeUnit.MILLISECONDS)));
    if (waits) {
      keepLooking();
    }
    return waits;
  }

  /** Returns how many calls wait. Does not block. */
  int count() {
    return queues.count();
  }

  private void keepLooking() {
    if (!looking.getAndSet(true)) {
      lookLater();
    }
  }

  private void lookLater() {
    ScheduledFuture<?> unused =
        looks.schedule(
            () -> {
              RepeatedTask.of("check for asynchronous work that has ended", log, this::look).run();
              if (!queues.isEmpty()) {
                lookLater();
                return;
              }
              looking.set(false);
              if (!queues.isEmpty()) {
                keepLooking();
              }
            },
            INTERVAL.toMillis(),
            TimeUnit.MILLISECONDS);
  }

  private void look() {
    queues.keys().stream()
        .collect(groupingBy(Work::procedure))
        .forEach(
            (name, works) -> {
              Runnable look =
                  RepeatedTask.of(
                      "read the status of the asynchronous work of " + name,
                      log,
                      () -> look(name, works));
              if (ReplayStatus.asksService(Objects.requireNonNull(procedures.get(name)))) {
                lookAside(name, look);
              } else {
                look.run();
              }
            });
  }

  /** Reads the status on a separate thread, unless the procedure's last read has not ended. */
  private void lookAside(String name, Runnable look) {
    if (!resolving.add(name)) {
      return;
    }
    try {
      resolvers.execute(
          () -> {
            try {
              look.run();
            } finally {
              resolving.remove(name);
            }
          });
    } catch (Throwable noThread) {
      resolving.remove(name);
      if (!resolvers.isShutdown()) {
        throw noThread;
      }
    }
  }

  private void look(String name, List<Work> works) {
    Procedure procedure = Objects.requireNonNull(procedures.get(name));
    Set<OwnedResource> resources = works.stream().map(Work::resource).collect(toSet());
    Map<OwnedResource, IdempotencyStatus> statuses =
        new HashMap<>(catalog.get().statuses(RecordedProcedure.of(procedure), resources));
    for (OwnedResource resource : resources) {
      IdempotencyStatus status =
          statuses.computeIfAbsent(
              resource,
              missing ->
                  ReplayStatus.ofResource(procedure, missing.resourceId(), this::statusUnknown));
      if (status != IdempotencyStatus.PROCESSING) {
        queues.removeAll(new Work(name, resource)).forEach(this::end);
      }
    }
  }

  /** Logs a failed read. The waiting calls report it when they are answered. */
  private void statusUnknown(Optional<Throwable> failure) {
    log.warn(
        "status", failure.orElse(null), "the status of asynchronous work could not be resolved");
  }

  private void end(Waiter waiter) {
    waiter.timeout.ifPresent(timeout -> timeout.cancel(false));
    try {
      waiter.ended.run();
    } catch (Throwable thrown) {
      log.error("resume", thrown, "could not resume a waiting call");
    }
  }

  private void timeOut(Work work, Waiter waiter) {
    if (queues.remove(work, waiter)) {
      end(waiter);
    }
  }

  private void leave(Work work, Waiter waiter) {
    if (queues.remove(work, waiter)) {
      waiter.timeout.ifPresent(timeout -> timeout.cancel(false));
    }
  }

  @Override
  public void close() {
    queues.close().forEach(this::end);
    looks.shutdownNow();
    resolvers.shutdownNow();
    timer.shutdownNow();
  }
}
