package io.github.grpcidempotency.thing;

import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.IdempotencyListener;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** Records the names of the events, and prints them. */
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
  public void claimed(IdempotencyEvent.Claimed event) {
    add("claimed");
  }

  @Override
  public void replayed(IdempotencyEvent.Replayed event) {
    add("replayed");
  }

  @Override
  public void attached(IdempotencyEvent.Attached event) {
    add("attached");
  }

  @Override
  public void refused(IdempotencyEvent.Refused event) {
    add("refused");
  }

  @Override
  public void settled(IdempotencyEvent.ClaimSettled event) {
    add("settled");
  }

  @Override
  public void unprotected(IdempotencyEvent.Unprotected event) {
    add("unprotected " + event.cause());
  }

  @Override
  public void leaseLost(IdempotencyEvent.LeaseLost event) {
    add("leaseLost");
  }

  @Override
  public void recordingDeferred(IdempotencyEvent.RecordingDeferred event) {
    add("recordingDeferred");
  }

  @Override
  public void recordedLate(IdempotencyEvent.RecordedLate event) {
    add("recordedLate");
  }

  private void add(String name) {
    names.add(name);
    printer.accept(name);
  }
}
