package io.github.grpcidempotency.internal.runtime;

import static java.util.stream.Collectors.toMap;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.store.OperationCatalog;
import io.github.grpcidempotency.store.OwnedResource;
import io.github.grpcidempotency.store.RecordedProcedure;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.StoredOperation;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/** The operations that callers find by id, and wait for. Thread-safe. */
public final class Operations implements AutoCloseable {
  private final Map<String, Procedure> procedures;
  private final Supplier<OperationCatalog> catalog;
  private final OperationReader reader;
  private final WorkWatch watch;

  private Operations(
      Map<String, Procedure> procedures,
      Supplier<OperationCatalog> catalog,
      OperationReader reader) {
    this.procedures = procedures;
    this.catalog = catalog;
    this.reader = reader;
    this.watch = new WorkWatch(catalog, procedures);
  }

  /** Opens the operations of these procedures. */
  static Operations open(CheckedStore store, Collection<Procedure> procedures, Executor executor) {
    Supplier<OperationCatalog> catalog =
        store.operations(procedures.stream().map(RecordedProcedure::of).toList());
    return new Operations(
        procedures.stream().collect(toMap(Procedure::name, Function.identity())),
        catalog,
        new OperationReader(catalog, executor));
  }

  /**
   * Returns the catalog, which finds operations without waiting.
   *
   * @throws StoreException if the store could not be reached yet
   */
  public OperationCatalog catalog() {
    return catalog.get();
  }

  /** Returns the names of the procedures of these operations. */
  public Set<String> procedures() {
    return procedures.keySet();
  }

  /** Returns the procedure of an operation. */
  public Procedure procedure(StoredOperation operation) {
    return Objects.requireNonNull(procedures.get(operation.procedure()));
  }

  /**
   * Reads an operation that was waited for, once for all calls that request it.
   *
   * @param found receives the operation, or empty if it does not exist any more
   * @param failed receives the exception if the read fails
   */
  public void read(
      Caller caller,
      UUID operationId,
      Consumer<Optional<StoredOperation>> found,
      Consumer<RuntimeException> failed) {
    reader.read(caller, operationId, found, failed);
  }

  /**
   * Waits for the end of an operation's asynchronous work.
   *
   * @param resource the resource of the work, and the operation's user
   * @param ended called once the work has ended; must not block
   * @param over called instead if the limit is over, or this object is closed
   * @param begun receives a task that ends the wait, before the wait starts
   * @return whether the wait has started; if not, this object is closed, and nothing is called
   */
  public boolean await(
      Procedure procedure,
      OwnedResource resource,
      Duration limit,
      Runnable ended,
      Runnable over,
      Consumer<Runnable> begun) {
    return watch.await(procedure.name(), resource, limit, ended, over, begun);
  }

  /** Returns how many calls wait for the end of asynchronous work. Does not block. */
  int waiting() {
    return watch.count();
  }

  @Override
  public void close() {
    watch.close();
    reader.close();
  }
}
