package io.github.grpcidempotency.internal.runtime;

import io.github.grpcidempotency.internal.background.DaemonThreads;
import io.github.grpcidempotency.internal.log.RateLimitedLog;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.store.OperationCatalog;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.StoredOperation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.slf4j.LoggerFactory;

/**
 * Reads operations for those that have waited for them, however many, on a few threads: several of
 * one caller at once, and each once for all who ask before it is read. Thread-safe.
 */
final class OperationReader implements AutoCloseable {
  private static final int READERS = 4;

  /** How many records, with their answers, are in memory for one reader. */
  private static final int AT_ONCE = 20;

  private final RateLimitedLog log =
      RateLimitedLog.of(LoggerFactory.getLogger(OperationReader.class));
  private final OperationCatalog catalog;
  private final Map<Caller, Map<UUID, List<Asker>>> askers = new HashMap<>();
  private final ExecutorService threads =
      Executors.newFixedThreadPool(READERS, DaemonThreads.named("idempotency-operation"));

  private record Asker(
      Consumer<Optional<StoredOperation>> found, Consumer<StoreException> failed) {}

  OperationReader(OperationCatalog catalog) {
    this.catalog = catalog;
  }

  /**
   * Reads an operation as it is from now on.
   *
   * @param found gets it, or that it is not there, on a thread that it must not block
   * @param failed gets what the store threw instead
   */
  void read(
      Caller caller,
      UUID operationId,
      Consumer<Optional<StoredOperation>> found,
      Consumer<StoreException> failed) {
    synchronized (this) {
      askers
          .computeIfAbsent(caller, first -> new LinkedHashMap<>())
          .computeIfAbsent(operationId, first -> new ArrayList<>())
          .add(new Asker(found, failed));
    }
    try {
      threads.execute(() -> readSomeOf(caller));
    } catch (RejectedExecutionException closed) {
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
          .find(caller, asked.keySet())
          .forEach(operation -> found.put(operation.id(), operation));
      asked.forEach(
          (id, all) ->
              tell(all, asker -> asker.found().accept(Optional.ofNullable(found.get(id)))));
    } catch (StoreException failure) {
      asked.values().forEach(all -> tell(all, asker -> asker.failed().accept(failure)));
    } catch (RuntimeException defect) {
      StoreException failure = new StoreException("the store has a defect", defect);
      asked.values().forEach(all -> tell(all, asker -> asker.failed().accept(failure)));
    }
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

  /** What one of them throws is no other's business. */
  private void tell(List<Asker> all, Consumer<Asker> news) {
    for (Asker asker : all) {
      try {
        news.accept(asker);
      } catch (RuntimeException thrown) {
        log.error("tell", thrown, "a call that had waited for an operation could not go on");
      }
    }
  }

  /** Takes no more threads for what is asked from now on. */
  @Override
  public void close() {
    threads.shutdown();
  }
}
