package io.github.grpcidempotency.internal.runtime;

import static java.util.stream.Collectors.toMap;

import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.store.spi.OperationCatalog;
import io.github.grpcidempotency.store.spi.RecordedProcedure;
import io.github.grpcidempotency.store.spi.StoredOperation;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;

/** The operations that callers find by id, and wait for. Thread-safe. */
public final class Operations implements AutoCloseable {
  private final Map<String, Procedure> procedures;
  private final Supplier<OperationCatalog> catalog;
  private final OperationReader reader;
  private final WorkWatch work;

  private Operations(
      Map<String, Procedure> procedures,
      Supplier<OperationCatalog> catalog,
      OperationReader reader) {
    this.procedures = procedures;
    this.catalog = catalog;
    this.reader = reader;
    this.work = new WorkWatch(catalog, procedures);
  }

  static Operations open(CheckedStore store, Collection<Procedure> procedures, Executor executor) {
    Supplier<OperationCatalog> catalog =
        store.operations(procedures.stream().map(RecordedProcedure::of).toList());
    return new Operations(
        procedures.stream().collect(toMap(Procedure::name, Function.identity())),
        catalog,
        new OperationReader(catalog, executor));
  }

  /** Returns the catalog, which finds operations without waiting. */
  public OperationCatalog catalog() {
    return catalog.get();
  }

  public Set<String> procedures() {
    return procedures.keySet();
  }

  public Procedure procedure(StoredOperation operation) {
    return Objects.requireNonNull(procedures.get(operation.procedure()));
  }

  public OperationReader reader() {
    return reader;
  }

  public WorkWatch work() {
    return work;
  }

  @Override
  public void close() {
    work.close();
    reader.close();
  }
}
