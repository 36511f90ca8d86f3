package io.github.grpcidempotency.store;

import java.util.UUID;

/**
 * Another server has taken over the operation that a handler tries to complete. Thrown inside the
 * handler's own transaction, which must roll back, because the other server now runs the operation.
 * Whatever response the handler returns afterwards, its client gets {@code ABORTED} and can retry.
 */
public final class ClaimLostException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception for a reservation that another server has taken over. */
  public ClaimLostException(UUID operationId) {
    super("operation " + operationId + " was taken over; its transaction must roll back");
  }
}
