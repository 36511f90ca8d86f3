package io.github.grpcidempotency.console;

import io.github.grpcidempotency.admin.OperationState;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** A list that the console offers. */
enum OperationView {
  IN_FLIGHT(
      "In flight",
      "Nothing is in flight.",
      Set.of(OperationState.RUNNING, OperationState.STUCK, OperationState.UNKNOWN),
      Optional.empty()),
  STUCK("Stuck", "Nothing is stuck.", Set.of(OperationState.STUCK), Optional.empty()),
  UNKNOWN(
      "Unknown outcome",
      "No outcome is unknown.",
      Set.of(OperationState.UNKNOWN),
      Optional.empty()),
  EXPIRING(
      "Expiring within an hour",
      "Nothing expires within an hour.",
      Set.of(OperationState.COMPLETED, OperationState.FAILED),
      Optional.of(Duration.ofHours(1))),
  ALL("All, newest first", "There are no records.", Set.of(), Optional.empty());

  private final String title;
  private final String none;
  private final Set<OperationState> states;
  private final Optional<Duration> expiringWithin;

  OperationView(
      String title, String none, Set<OperationState> states, Optional<Duration> expiringWithin) {
    this.title = title;
    this.none = none;
    this.states = states;
    this.expiringWithin = expiringWithin;
  }

  /** Returns the view of this name in an address; the first one for any other. */
  static OperationView named(String id) {
    for (OperationView view : values()) {
      if (view.id().equals(id)) {
        return view;
      }
    }
    return IN_FLIGHT;
  }

  String id() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  String title() {
    return title;
  }

  String none() {
    return none;
  }

  Set<OperationState> states() {
    return states;
  }

  Optional<Duration> expiringWithin() {
    return expiringWithin;
  }
}
