package io.github.grpcidempotency.store;

import com.google.protobuf.ByteString;
import java.util.Optional;
import java.util.UUID;

/** The answer that every retry gets. To a store its bytes are opaque. */
public sealed interface RecordedOutcome {

  /**
   * Handles each kind of outcome. A new kind does not compile until every visitor handles it.
   *
   * @param <T> what the visitor returns
   */
  interface Visitor<T> {
    T response(Response response);

    T reference(Reference reference);

    T failure(Failure failure);
  }

  /** Returns what a visitor returns for this outcome. */
  <T> T accept(Visitor<T> visitor);

  /** Returns the created or deleted resource; empty if there is none, or it is gone. */
  Optional<UUID> resourceId();

  /**
   * A response.
   *
   * @param bytes the response message, in the core's form
   * @param resourceId the created or deleted resource; empty if there is none, or it is gone
   */
  record Response(ByteString bytes, Optional<UUID> resourceId) implements RecordedOutcome {
    @Override
    public <T> T accept(Visitor<T> visitor) {
      return visitor.response(this);
    }
  }

  /**
   * A response that is not kept, because it can be rebuilt from its resource.
   *
   * @param resourceId the resource; empty if it is gone
   */
  record Reference(Optional<UUID> resourceId) implements RecordedOutcome {
    @Override
    public <T> T accept(Visitor<T> visitor) {
      return visitor.reference(this);
    }
  }

  /**
   * A terminal error.
   *
   * @param bytes the error, in the core's form
   */
  record Failure(ByteString bytes) implements RecordedOutcome {
    @Override
    public Optional<UUID> resourceId() {
      return Optional.empty();
    }

    @Override
    public <T> T accept(Visitor<T> visitor) {
      return visitor.failure(this);
    }
  }
}
