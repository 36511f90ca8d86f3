package io.github.grpcidempotency.longrunning;

import io.github.grpcidempotency.background.DaemonThreads;
import io.github.grpcidempotency.background.RateLimitedLog;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.spi.OperationCatalog;
import io.github.grpcidempotency.spi.StoredOperation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.LoggerFactory;

/**
 * Reads operations for calls that have waited for them, on a fixed small number of threads. It
 * reads several operations of one caller at once. If several calls request the same operation, it
 * is read once. Each call decides for itself whether its caller may see the answer. Thread-safe.
 */
final class OperationReader implements AutoCloseable {
  private static final int READERS = 4;

  /** The maximum number of records, with their answers, in the memory of one reader. */
  private static final int AT_ONCE = 20;

  private final RateLimitedLog log =
      RateLimitedLog.of(LoggerFactory.getLogger(OperationReader.class));
  private final Supplier<OperationCatalog> catalog;
  private final Executor executor;
  private final Map<Caller, Map<UUID, List<Asker>>> askers = new HashMap<>();
  private final ExecutorService threads =
      Executors.newFixedThreadPool(READERS, DaemonThreads.named("idempotency-operation"));

  private record Asker(
      Consumer<Optional<StoredOperation>> found, Consumer<RuntimeException> failed) {}

  OperationReader(Supplier<OperationCatalog> catalog, Executor executor) {
    this.catalog = catalog;
    this.executor = executor;
  }

  /** Reads an operation. The result is at least as new as this call. */
  void read(
      Caller caller,
      UUID operationId,
      Consumer<Optional<StoredOperation>> found,
      Consumer<RuntimeException> failed) {
    synchronized (this) {
      askers
          .computeIfAbsent(caller, first -> new LinkedHashMap<>())
          .computeIfAbsent(operationId, first -> new ArrayList<>())
          .add(new Asker(found, failed));
    }
    try {
      threads.execute(() -> readSomeOf(caller));
    } catch (Throwable noThread) {
      readSomeOf(caller);
    }
  }

  private void readSomeOf(Caller caller) {
    Map<UUID, List<Asker>> asked = takeSomeOf(caller);
    if (asked.isEmpty()) {
      return;
    }
    try {
      Map<UUID, StoredOperation> found = new HashMap<>();
      catalog
          .get()
          .find(caller, asked.keySet())
          .forEach(operation -> found.put(operation.id(), operation));
      asked.forEach(
          (id, all) ->
              notifyEach(all, asker -> asker.found().accept(Optional.ofNullable(found.get(id)))));
    } catch (RuntimeException failure) {
      fail(asked, failure);
    } catch (Error defect) {
      fail(asked, new IllegalStateException(defect));
      throw defect;
    }
  }

  private void fail(Map<UUID, List<Asker>> asked, RuntimeException failure) {
    asked.values().forEach(all -> notifyEach(all, asker -> asker.failed().accept(failure)));
  }

  private synchronized Map<UUID, List<Asker>> takeSomeOf(Caller caller) {
    Map<UUID, List<Asker>> all = askers.getOrDefault(caller, Map.of());
    Map<UUID, List<Asker>> taken = new LinkedHashMap<>();
    Iterator<Map.Entry<UUID, List<Asker>>> each = all.entrySet().iterator();
    while (each.hasNext() && taken.size() < AT_ONCE) {
      Map.Entry<UUID, List<Asker>> next = each.next();
      taken.put(next.getKey(), next.getValue());
      each.remove();
    }
    if (all.isEmpty()) {
      askers.remove(caller);
    }
    return taken;
  }

  /**
   * Resumes each waiting call separately, so that an exception of one call does not affect the
   * others.
   */
  private void notifyEach(List<Asker> all, Consumer<Asker> news) {
    for (Asker asker : all) {
      executor.execute(
          () -> {
            try {
              news.accept(asker);
            } catch (Throwable thrown) {
              log.error(
                  "notify", thrown, "could not resume a call that had waited for an operation");
            }
          });
    }
  }

  /** Stops the threads. Later requests are served on the caller's thread. */
  @Override
  public void close() {
    threads.shutdown();
  }
}
