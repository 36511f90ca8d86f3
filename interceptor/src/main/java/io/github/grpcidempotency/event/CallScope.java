package io.github.grpcidempotency.event;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.store.ClaimRequest;
import java.util.Optional;

/**
 * What a listener keeps of the context in which a call has arrived, such as its current span. A
 * call goes on in its scope wherever it is resumed: its events and its handler run within it.
 *
 * <p>Implementations are thread-safe.
 */
public interface CallScope {
  /** Keeps nothing. */
  CallScope NONE = action -> action.run();

  /** The most that {@link #trace} may return, in bytes. */
  int MAX_TRACE = ClaimRequest.MAX_TRACE;

  /** Runs an action within this scope, once, on the current thread. Lets its exceptions through. */
  void run(Runnable action);

  /**
   * Returns the call's position in its trace, to be recorded with its operation and given to {@link
   * IdempotencyEvent.Replayed}. At most {@link #MAX_TRACE} bytes; more are not recorded.
   */
  default Optional<ByteString> trace() {
    return Optional.empty();
  }
}
