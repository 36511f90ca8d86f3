package io.github.grpcidempotency.grpc.spi;

import com.google.protobuf.Message;
import io.github.grpcidempotency.internal.context.OperationContext;
import io.github.grpcidempotency.internal.settling.OwnedClaim;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.spi.StoreTransaction;
import java.util.Optional;

/**
 * The claim and the transaction of the current handler or piece of work, for implementations of
 * stores. They are part of the gRPC {@link io.grpc.Context}, so they are available wherever that
 * context is current. Thread-safe.
 */
public final class CurrentHandler {
  private CurrentHandler() {}

  /** Returns the claim; empty for a call without a key. */
  public static Optional<Claim> claim() {
    return OperationContext.operation().map(OwnedClaim::claim);
  }

  /** Returns the transaction of the handler, if its procedure is transactional. */
  public static Optional<StoreTransaction> transaction() {
    return OperationContext.transaction();
  }

  /**
   * Returns the transaction of the handler.
   *
   * @throws IllegalStateException if there is none; the message gives the reason
   */
  public static StoreTransaction requireTransaction() {
    return OperationContext.requireTransaction();
  }

  /**
   * Returns the form in which the store records a response of the handler. Repeated calls with the
   * same response return the same result. For claims that are completed within the handler's own
   * transaction.
   *
   * @throws IllegalStateException if the handler has no claim
   * @throws IllegalArgumentException if the response is not of the method's response type
   * @throws io.github.grpcidempotency.store.StoreException if the response cannot be encrypted
   */
  public static RecordedOutcome keptOf(Message response) {
    return OperationContext.operation()
        .orElseThrow(() -> new IllegalStateException("the current call has no claim"))
        .keptOf(response);
  }
}
