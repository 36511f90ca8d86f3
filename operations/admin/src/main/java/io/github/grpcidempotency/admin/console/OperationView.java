package io.github.grpcidempotency.admin.console;

import io.github.grpcidempotency.admin.OperationState;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** The lists of operations in the console. */
enum OperationView {
  IN_FLIGHT("In flight", "Nothing is in flight."),
  STUCK("Stuck", "Nothing is stuck: no server has left a reservation behind."),
  UNKNOWN("Unknown outcome", "No outcome is unknown."),
  EXPIRING("Expiring within an hour", "Nothing expires within an hour."),
  ALL("All, newest first", "There are no records.");

  private static final Duration SOON = Duration.ofHours(1);

  private final String title;
  private final String none;

  OperationView(String title, String none) {
    this.title = title;
    this.none = none;
  }

  /** Returns the view with this name in an address; the first view for any other name. */
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

  /** Returns the message for an empty list. */
  String none() {
    return none;
  }

  /** Returns the states of the list; empty for all. */
  Set<OperationState> states() {
    return switch (this) {
      case IN_FLIGHT ->
          Set.of(OperationState.RUNNING, OperationState.STUCK, OperationState.UNKNOWN);
      case STUCK -> Set.of(OperationState.STUCK);
      case UNKNOWN -> Set.of(OperationState.UNKNOWN);
      case EXPIRING -> Set.of(OperationState.COMPLETED, OperationState.FAILED);
      case ALL -> Set.of();
    };
  }

  /** Returns whether the list contains reservations only. */
  boolean isOfReservations() {
    return !states().isEmpty() && states().stream().allMatch(OperationState::isInFlight);
  }

  Optional<Duration> expiringWithin() {
    return this == EXPIRING ? Optional.of(SOON) : Optional.empty();
  }
}
