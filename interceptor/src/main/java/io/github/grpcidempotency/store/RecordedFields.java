package io.github.grpcidempotency.store;

import com.google.protobuf.Message;
import io.github.grpcidempotency.key.FieldPath;
import io.github.grpcidempotency.procedure.Procedure;
import java.util.Optional;

/** What of a response is recorded. */
public final class RecordedFields {
  private RecordedFields() {}

  /** Returns a response without the fields that its procedure omits. */
  public static Message of(Procedure procedure, Message response) {
    Message recorded = response;
    for (String path : procedure.omittedFields()) {
      Optional<FieldPath> field = FieldPath.of(response.getDescriptorForType(), path);
      recorded = field.isPresent() ? field.get().without(recorded) : recorded;
    }
    return recorded;
  }
}
