package io.github.grpcidempotency.admin.console;

import io.github.grpcidempotency.admin.Act;
import io.github.grpcidempotency.admin.ActResult;
import io.github.grpcidempotency.admin.Administration;
import io.github.grpcidempotency.admin.OperationState;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;

/** The actions of the console on an operation. */
enum DeletingAct {
  FREE("Free the reservation", "Freed"),
  FORGET("Forget the record", "Forgotten");

  private final String title;
  private final String done;

  DeletingAct(String title, String done) {
    this.title = title;
    this.done = done;
  }

  /**
   * Returns the action that is possible on an operation in a state; empty for an operation that
   * counts as absent.
   */
  static Optional<DeletingAct> of(OperationState state) {
    return switch (state) {
      case RUNNING, STUCK, UNKNOWN -> Optional.of(FREE);
      case COMPLETED, FAILED -> Optional.of(FORGET);
      case EXPIRED -> Optional.empty();
    };
  }

  /** Returns the action with the id that a form sends. */
  static DeletingAct named(String id) {
    for (DeletingAct act : values()) {
      if (act.id().equals(id)) {
        return act;
      }
    }
    throw new HttpError(400, "There is no such action.");
  }

  String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  String title() {
    return title;
  }

  String done() {
    return done;
  }

  ActResult perform(
      Administration administration, UUID operation, Act act, boolean evenIfLive, boolean dryRun) {
    return switch (this) {
      case FREE -> administration.free(operation, act, evenIfLive, dryRun);
      case FORGET -> administration.forget(operation, act, dryRun);
    };
  }
}
