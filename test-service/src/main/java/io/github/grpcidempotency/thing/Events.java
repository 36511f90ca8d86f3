package io.github.grpcidempotency.thing;

import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.event.Settlement;
import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.store.StoreException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** Keeps the names of the events, and prints them. */
final class Events implements IdempotencyListener {
  private final List<String> names = new CopyOnWriteArrayList<>();
  private final Consumer<String> printer;

  Events(Consumer<String> printer) {
    this.printer = printer;
  }

  List<String> soFar() {
    return List.copyOf(names);
  }

  @Override
  public void claimed(String procedure, UUID operationId) {
    add("claimed");
  }

  @Override
  public void replayed(String procedure, UUID operationId) {
    add("replayed");
  }

  @Override
  public void attached(String procedure) {
    add("attached");
  }

  @Override
  public void refused(String procedure, RefusalReason reason) {
    add("refused");
  }

  @Override
  public void settled(String procedure, UUID operationId, Settlement settlement) {
    add("settled");
  }

  @Override
  public void unprotected(String procedure, UnprotectedCause cause) {
    add("unprotected " + cause);
  }

  @Override
  public void leaseLost(UUID operationId) {
    add("leaseLost");
  }

  @Override
  public void recordingDeferred(UUID operationId, StoreException cause) {
    add("recordingDeferred");
  }

  @Override
  public void recordedLate(UUID operationId) {
    add("recordedLate");
  }

  private void add(String name) {
    names.add(name);
    printer.accept(name);
  }
}
