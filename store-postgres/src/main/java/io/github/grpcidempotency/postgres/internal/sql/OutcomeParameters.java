package io.github.grpcidempotency.postgres.internal.sql;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.procedure.ResourceId;
import io.github.grpcidempotency.store.RecordedOutcome;
import java.util.Optional;

/** The parameters that record an answer. */
public final class OutcomeParameters implements RecordedOutcome.Visitor<Parameters> {
  private final Parameters values;

  private OutcomeParameters(Parameters values) {
    this.values = values;
  }

  public static Parameters of(Parameters values, RecordedOutcome outcome) {
    return outcome
        .accept(new OutcomeParameters(values))
        .bind("resource_id", "text", outcome.resourceId().map(ResourceId::toString));
  }

  @Override
  public Parameters response(RecordedOutcome.Response response) {
    return bind(Optional.of(response.bytes()), Optional.empty());
  }

  @Override
  public Parameters reference(RecordedOutcome.Reference reference) {
    return bind(Optional.empty(), Optional.empty());
  }

  @Override
  public Parameters failure(RecordedOutcome.Failure failure) {
    return bind(Optional.empty(), Optional.of(failure.bytes()));
  }

  private Parameters bind(Optional<ByteString> response, Optional<ByteString> status) {
    return values
        .bind("response", "bytea", response.map(ByteString::toByteArray))
        .bind("status", "bytea", status.map(ByteString::toByteArray));
  }
}
