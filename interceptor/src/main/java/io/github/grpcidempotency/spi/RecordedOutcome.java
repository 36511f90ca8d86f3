package io.github.grpcidempotency.spi;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.resource.ResourceId;
import java.util.Optional;

/** The answer that every retry gets. Its bytes are opaque to a store. */
public sealed interface RecordedOutcome {

  /**
   * Returns the created or deleted resource; empty if there is none, or it does not exist any more.
   */
  Optional<ResourceId> resourceId();

  /**
   * A response.
   *
   * @param bytes the response message, possibly encrypted
   * @param resourceId the created or deleted resource; empty if there is none, or it does not exist
   *     any more
   */
  record Response(ByteString bytes, Optional<ResourceId> resourceId) implements RecordedOutcome {}

  /**
   * A response that is not recorded, because it can be rebuilt from its resource.
   *
   * @param resourceId the resource; empty if it does not exist any more
   */
  record Reference(Optional<ResourceId> resourceId) implements RecordedOutcome {}

  /**
   * A terminal error.
   *
   * @param bytes the error, possibly encrypted
   */
  record Failure(ByteString bytes) implements RecordedOutcome {
    @Override
    public Optional<ResourceId> resourceId() {
      return Optional.empty();
    }
  }
}
