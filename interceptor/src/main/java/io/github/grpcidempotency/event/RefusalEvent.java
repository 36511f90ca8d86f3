package io.github.grpcidempotency.event;

import java.util.Optional;

/** A call that is refused. */
public interface RefusalEvent extends CallEvent {
  RefusalReason reason();

  /**
   * Returns a word of a small set: for a reused key, what differs ({@code request} or {@code
   * procedure}); for an unavailable store, the cause.
   */
  Optional<String> detail();
}
