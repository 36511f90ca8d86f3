package io.github.grpcidempotency.event;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.spi.ClaimRequest;
import java.util.Optional;

/**
 * The context in which a call arrived, as captured by a listener, for example its current span. The
 * events and the handler of the call run within this scope, on whichever thread the call is
 * resumed.
 *
 * <p>Implementations are thread-safe.
 */
public interface CallScope {
  /** A scope without a context. */
  CallScope NONE = action -> action.run();

  /**
   * Runs an action within this scope, once, on the current thread. Exceptions of the action are not
   * caught.
   */
  void run(Runnable action);

  /**
   * Returns the call's position in its trace. It is recorded with the operation, and part of the
   * {@link ReplayEvent} of a replay. A value of more than {@link ClaimRequest#MAX_TRACE} bytes is
   * not recorded.
   */
  default Optional<ByteString> trace() {
    return Optional.empty();
  }
}
