package io.github.grpcidempotency.event;

import java.util.Optional;
import java.util.UUID;

/** An event of a call, or of a piece of work. */
public interface CallEvent extends IdempotencyEvent {
  /** Returns the procedure; the same object for all its calls. */
  ProcedureInfo procedure();

  /** Returns the caller's tenant, if there are tenants and the caller is known. */
  Optional<String> tenant();

  /** Returns the caller's project, if there are projects and the caller is known. */
  Optional<String> project();

  /** Returns the operation that has the key, if it is known. */
  default Optional<UUID> operationId() {
    return Optional.empty();
  }
}
