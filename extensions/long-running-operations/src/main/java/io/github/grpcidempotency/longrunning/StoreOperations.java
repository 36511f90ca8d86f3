package io.github.grpcidempotency.longrunning;

import com.google.common.base.Suppliers;
import io.github.grpcidempotency.background.RateLimitedLog;
import io.github.grpcidempotency.grpc.spi.OperationAccess;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.spi.OperationCatalog;
import io.github.grpcidempotency.spi.OperationStore;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.store.SetupException;
import io.github.grpcidempotency.store.StoreException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.LoggerFactory;

/** The operations of one store. Thread-safe. */
record StoreOperations(
    Supplier<OperationCatalog> openedCatalog, OperationReader reader, WorkWatch work)
    implements AutoCloseable {
  private static final RateLimitedLog log =
      RateLimitedLog.of(LoggerFactory.getLogger(StoreOperations.class));

  /**
   * Opens the operations of a store. If the database of a shard cannot be reached, they are opened
   * when they are first used.
   */
  @SuppressWarnings("UnnecessaryMethodReference") // Guava for Android has suppliers of its own
  static StoreOperations open(
      OperationAccess access, Optional<String> shard, IdempotencyStore store) {
    if (!(store instanceof OperationStore operations)) {
      throw new SetupException(
          List.of(
              named(
                  shard,
                  store.getClass().getSimpleName()
                      + " cannot find operations by id: do not serve"
                      + " google.longrunning.Operations")));
    }
    Collection<RecordedProcedure> procedures =
        access.procedures().values().stream().map(RecordedProcedure::of).toList();
    com.google.common.base.Supplier<OperationCatalog> opened =
        Suppliers.memoize(
            () -> {
              access.check(shard);
              return operations.operations(procedures);
            });
    Supplier<OperationCatalog> catalog = opened::get;
    try {
      OperationCatalog unused = catalog.get();
    } catch (StoreException unreachable) {
      if (shard.isEmpty()) {
        throw unreachable;
      }
      log.warn(
          "operations",
          unreachable,
          named(shard, "its operations cannot be found until its database can be reached"));
    }
    return new StoreOperations(
        catalog,
        new OperationReader(catalog, access.executor()),
        new WorkWatch(catalog, access.procedures()));
  }

  private static String named(Optional<String> shard, String problem) {
    return shard.map(name -> "shard " + name + ": " + problem).orElse(problem);
  }

  /** Returns the catalog, which finds operations without waiting. */
  OperationCatalog catalog() {
    return openedCatalog.get();
  }

  @Override
  public void close() {
    work.close();
    reader.close();
  }
}
