package io.github.grpcidempotency.internal.runtime;

import io.github.grpcidempotency.internal.background.DaemonThreads;
import io.github.grpcidempotency.internal.log.RateLimitedLog;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.store.OperationCatalog;
import io.github.grpcidempotency.store.StoredOperation;
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
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.slf4j.LoggerFactory;

/**
 * Reads operations for those that have waited for them, however many, on a few threads: several of
 * one caller at once, and each once for all who ask before it is read. Thread-safe.
 *
 * @param <V> what they see of an operation
 */
final class OperationReader<V> implements AutoCloseable {
  private static final int READERS = 4;

  /** How many records, with their answers, are in memory for one reader. */
  private static final int AT_ONCE = 20;

  private final RateLimitedLog log =
      RateLimitedLog.of(LoggerFactory.getLogger(OperationReader.class));
  private final OperationCatalog catalog;
  private final Executor executor;
  private final Function<StoredOperation, V> view;
  private final Map<Caller, Map<UUID, List<Asker<V>>>> askers = new HashMap<>();
  private final ExecutorService threads =
      Executors.newFixedThreadPool(READERS, DaemonThreads.named("idempotency-operation"));

  private record Asker<V>(
      UnaryOperator<Runnable> context,
      Consumer<Optional<V>> found,
      Consumer<RuntimeException> failed) {}

  /**
   * Makes a reader.
   *
   * @param executor where those who have asked go on
   * @param view what they see of an operation; it is asked once for all of them
   */
  OperationReader(OperationCatalog catalog, Executor executor, Function<StoredOperation, V> view) {
    this.catalog = catalog;
    this.executor = executor;
    this.view = view;
  }

  /**
   * Reads an operation as it is from now on.
   *
   * @param context lets a task run as a part of the call that asks
   * @param found gets it, or that it is not there
   * @param failed gets what was thrown instead
   */
  void read(
      Caller caller,
      UUID operationId,
      UnaryOperator<Runnable> context,
      Consumer<Optional<V>> found,
      Consumer<RuntimeException> failed) {
    synchronized (this) {
      askers
          .computeIfAbsent(caller, first -> new LinkedHashMap<>())
          .computeIfAbsent(operationId, first -> new ArrayList<>())
          .add(new Asker<>(context, found, failed));
    }
    try {
      threads.execute(() -> readSomeOf(caller));
    } catch (RejectedExecutionException closed) {
      readSomeOf(caller);
    }
  }

  private void readSomeOf(Caller caller) {
    Map<UUID, List<Asker<V>>> asked = takeSomeOf(caller);
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
              executor.execute(
                  all.get(0).context().apply(() -> show(Optional.ofNullable(found.get(id)), all))));
    } catch (RuntimeException failure) {
      asked.values().forEach(all -> tell(all, asker -> asker.failed().accept(failure)));
    }
  }

  private void show(Optional<StoredOperation> found, List<Asker<V>> all) {
    Optional<V> seen;
    try {
      seen = found.map(view);
    } catch (RuntimeException failure) {
      tell(all, asker -> asker.failed().accept(failure));
      return;
    }
    tell(all, asker -> asker.found().accept(seen));
  }

  private synchronized Map<UUID, List<Asker<V>>> takeSomeOf(Caller caller) {
    Map<UUID, List<Asker<V>>> all = askers.getOrDefault(caller, Map.of());
    Map<UUID, List<Asker<V>>> taken = new LinkedHashMap<>();
    Iterator<Map.Entry<UUID, List<Asker<V>>>> each = all.entrySet().iterator();
    while (each.hasNext() && taken.size() < AT_ONCE) {
      Map.Entry<UUID, List<Asker<V>>> next = each.next();
      taken.put(next.getKey(), next.getValue());
      each.remove();
    }
    if (all.isEmpty()) {
      askers.remove(caller);
    }
    return taken;
  }

  /** What one of them throws is no other's business. */
  private void tell(List<Asker<V>> all, Consumer<Asker<V>> news) {
    for (Asker<V> asker : all) {
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
