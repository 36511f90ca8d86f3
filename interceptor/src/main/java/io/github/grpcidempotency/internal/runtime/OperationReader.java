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
 * Reads operations for calls that have waited for them, on a few threads however many calls there
 * are. It reads several operations of one caller at once, and reads an operation once for all calls
 * that ask for it before it is read. Thread-safe.
 *
 * @param <V> what the calls get for an operation
 */
final class OperationReader<V> implements AutoCloseable {
  private static final int READERS = 4;

  /** How many records, with their answers, one reader has in memory at once. */
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
   * @param executor resumes the calls that have asked
   * @param view converts an operation to what the calls get; called once for all of them
   */
  OperationReader(OperationCatalog catalog, Executor executor, Function<StoredOperation, V> view) {
    this.catalog = catalog;
    this.executor = executor;
    this.view = view;
  }

  /**
   * Reads an operation as it is now or later.
   *
   * @param context makes a task run as part of the call that asks
   * @param found gets the operation, or empty if there is none
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
      asked.values().forEach(all -> notifyEach(all, asker -> asker.failed().accept(failure)));
    }
  }

  private void show(Optional<StoredOperation> found, List<Asker<V>> all) {
    Optional<V> seen;
    try {
      seen = found.map(view);
    } catch (RuntimeException failure) {
      notifyEach(all, asker -> asker.failed().accept(failure));
      return;
    }
    notifyEach(all, asker -> asker.found().accept(seen));
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

  /** An exception of one asker does not affect the others. */
  private void notifyEach(List<Asker<V>> all, Consumer<Asker<V>> news) {
    for (Asker<V> asker : all) {
      try {
        news.accept(asker);
      } catch (RuntimeException thrown) {
        log.error("notify", thrown, "a call that had waited for an operation could not go on");
      }
    }
  }

  /** Stops the threads. Later requests are read on the thread that asks. */
  @Override
  public void close() {
    threads.shutdown();
  }
}
