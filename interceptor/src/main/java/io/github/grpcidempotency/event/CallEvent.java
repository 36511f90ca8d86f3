package io.github.grpcidempotency.event;

import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.KeyPolicy;
import java.util.Optional;
import java.util.UUID;

/** An event of a call, or of a piece of work. */
public interface CallEvent extends IdempotencyEvent {
  /**
   * Returns the procedure's full name; for a request about an unknown operation, the name of the
   * called service.
   */
  String procedure();

  /** Returns the way in which the call has reached the library. */
  Entry entry();

  /** Returns the procedure's rule for keys. */
  KeyPolicy keyPolicy();

  /** Returns the procedure's execution. */
  Execution execution();

  /** Returns the caller's tenant, if there are tenants and the caller is known. */
  Optional<String> tenant();

  /** Returns the caller's project, if there are projects and the caller is known. */
  Optional<String> project();

  /** Returns the operation that has the key, if it is known. */
  default Optional<UUID> operationId() {
    return Optional.empty();
  }
}
