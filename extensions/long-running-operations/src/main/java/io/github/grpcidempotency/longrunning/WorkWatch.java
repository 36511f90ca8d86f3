package io.github.grpcidempotency.longrunning;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toSet;

import io.github.grpcidempotency.background.DaemonThreads;
import io.github.grpcidempotency.background.RateLimitedLog;
import io.github.grpcidempotency.background.RepeatedTask;
import io.github.grpcidempotency.background.RepeatedWhile;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.resource.StatusResolver;
import io.github.grpcidempotency.spi.OperationCatalog;
import io.github.grpcidempotency.spi.OperationCatalog.OwnedResource;
import io.github.grpcidempotency.spi.RecordedProcedure;
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
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Lets calls wait for the end of the asynchronous work behind resources, without a thread or a
 * connection. While there are waiters, the status of all resources of a procedure is read every
 * quarter of a second, in one query if possible. A resolver of the service may be slow. It is
 * therefore called on a separate thread for its procedure, and delays only the waiters of that
 * procedure. Thread-safe.
 */
final class WorkWatch implements AutoCloseable {
  private static final Duration INTERVAL = Duration.ofMillis(250);

  private final RateLimitedLog log = RateLimitedLog.of(LoggerFactory.getLogger(WorkWatch.class));
  private final Supplier<OperationCatalog> catalog;
  private final Map<String, Procedure> procedures;
  private final Set<Waiter> waiting = ConcurrentHashMap.newKeySet();
  private final Set<String> resolving = ConcurrentHashMap.newKeySet();
  private final ExecutorService resolvers =
      Executors.newCachedThreadPool(DaemonThreads.named("idempotency-resolver"));
  private final ScheduledExecutorService looks = DaemonThreads.newIdleTimer("idempotency-work");
  private final ScheduledExecutorService timer =
      DaemonThreads.newIdleTimer("idempotency-work-limit");
  private final RepeatedWhile looking =
      new RepeatedWhile(
          looks,
          INTERVAL,
          RepeatedTask.of("check for asynchronous work that has ended", log, this::look),
          () -> !waiting.isEmpty());
  private boolean closed;

  /** One waiting call. */
  private static final class Waiter {
    private final String procedure;
    private final OwnedResource resource;
    private final Runnable ended;
    private Optional<Future<?>> timeout = Optional.empty();

    private Waiter(String procedure, OwnedResource resource, Runnable ended) {
      this.procedure = procedure;
      this.resource = resource;
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
  boolean await(
      Procedure procedure,
      OwnedResource resource,
      Duration limit,
      Runnable ended,
      Consumer<Runnable> begun) {
    Waiter waiter = new Waiter(procedure.name(), resource, ended);
    begun.accept(() -> remove(waiter));
    if (!add(waiter, limit)) {
      return false;
    }
    try {
      looking.start();
    } catch (Throwable noThread) {
      remove(waiter);
      throw noThread;
    }
    return true;
  }

  private synchronized boolean add(Waiter waiter, Duration limit) {
    if (!closed) {
      waiter.timeout =
          Optional.of(timer.schedule(() -> end(waiter), limit.toMillis(), TimeUnit.MILLISECONDS));
      waiting.add(waiter);
    }
    return !closed;
  }

  /** Removes a call. Returns whether it was still waiting. */
  private synchronized boolean remove(Waiter waiter) {
    waiter.timeout.ifPresent(timeout -> timeout.cancel(false));
    return waiting.remove(waiter);
  }

  private void look() {
    waiting.stream()
        .collect(groupingBy(waiter -> waiter.procedure))
        .forEach(
            (name, its) -> {
              Runnable look =
                  RepeatedTask.of(
                      "read the status of the asynchronous work of " + name,
                      log,
                      () -> look(name, its));
              if (asksService(procedures, name)) {
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

  private void look(String name, List<Waiter> waiters) {
    Procedure procedure = procedureOf(procedures, name);
    Set<OwnedResource> resources = waiters.stream().map(each -> each.resource).collect(toSet());
    Map<OwnedResource, IdempotencyStatus> statuses =
        new HashMap<>(catalog.get().statuses(RecordedProcedure.of(procedure), resources));
    for (Waiter waiter : waiters) {
      IdempotencyStatus status =
          statuses.computeIfAbsent(
              waiter.resource, missing -> resolve(procedure, missing.resourceId()));
      if (status != IdempotencyStatus.PROCESSING) {
        end(waiter);
      }
    }
  }

  static Procedure procedureOf(Map<String, Procedure> procedures, String name) {
    return Objects.requireNonNull(procedures.get(name));
  }

  /**
   * Returns whether a resolver of the service is called for the status of a procedure's resources,
   * because the store cannot read it itself.
   */
  static boolean asksService(Map<String, Procedure> procedures, String name) {
    return procedureOf(procedures, name)
        .statusSource()
        .filter(StatusResolver.class::isInstance)
        .isPresent();
  }

  /** Logs a failed read. The waiting calls report it when they are answered. */
  private IdempotencyStatus resolve(Procedure procedure, ResourceId resource) {
    @Nullable Throwable why = null;
    if (procedure.statusSource().orElse(null) instanceof StatusResolver resolver) {
      try {
        return Objects.requireNonNull(
            resolver.resolve(resource), "the status resolver returned null");
      } catch (Throwable failure) {
        why = failure;
      }
    }
    log.warn("status", why, "the status of asynchronous work could not be resolved");
    return IdempotencyStatus.PROCESSING;
  }

  /** Resumes a call, unless it is not waiting any more. */
  private void end(Waiter waiter) {
    if (!remove(waiter)) {
      return;
    }
    try {
      waiter.ended.run();
    } catch (Throwable thrown) {
      log.error("resume", thrown, "could not resume a waiting call");
    }
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    waiting.forEach(this::end);
    looks.shutdownNow();
    resolvers.shutdownNow();
    timer.shutdownNow();
  }
}
