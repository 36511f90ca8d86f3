package io.github.grpcidempotency.postgres.internal.sql;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.store.RecordedOutcome;
import java.util.Optional;

/** The parameters that record an answer. */
public final class OutcomeParameters {
  private OutcomeParameters() {}

  public static Parameters of(Parameters values, RecordedOutcome outcome) {
    return values
        .bind("response", "bytea", response(outcome).map(ByteString::toByteArray))
        .bind("status", "bytea", status(outcome).map(ByteString::toByteArray))
        .bind("resource_id", "text", outcome.resourceId().map(ResourceId::toString));
  }

  public static Optional<ByteString> response(RecordedOutcome outcome) {
    return outcome instanceof RecordedOutcome.Response response
        ? Optional.of(response.bytes())
        : Optional.empty();
  }

  public static Optional<ByteString> status(RecordedOutcome outcome) {
    return outcome instanceof RecordedOutcome.Failure failure
        ? Optional.of(failure.bytes())
        : Optional.empty();
  }
}
