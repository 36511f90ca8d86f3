package io.github.grpcidempotency.store;

import com.google.protobuf.ByteString;
import java.util.Optional;
import java.util.UUID;

/** The answer that every retry gets. To a store its bytes are opaque. */
public sealed interface RecordedOutcome {
  /**
   * A response.
   *
   * @param bytes the response message, in the core's form
   * @param resourceId the created resource; empty if there is none, or it was deleted since
   */
  record Response(ByteString bytes, Optional<UUID> resourceId) implements RecordedOutcome {}

  /**
   * A terminal error.
   *
   * @param bytes the error, in the core's form
   */
  record Failure(ByteString bytes) implements RecordedOutcome {}
}
