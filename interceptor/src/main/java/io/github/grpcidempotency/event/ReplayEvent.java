package io.github.grpcidempotency.event;

import com.google.protobuf.ByteString;
import java.util.Optional;

/** A recorded outcome that is replayed. */
public interface ReplayEvent extends CallEvent {
  /** Returns whether the recorded outcome is an error. */
  boolean failure();

  /**
   * Returns the trace position of the run that produced the answer, as its {@link CallScope}
   * returned it.
   */
  Optional<ByteString> trace();
}
