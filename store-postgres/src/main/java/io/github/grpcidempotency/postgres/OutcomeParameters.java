package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.store.RecordedOutcome;

/** The parameters of what is recorded for an answer. */
final class OutcomeParameters implements RecordedOutcome.Visitor<Parameters> {
  private final Parameters values;

  private OutcomeParameters(Parameters values) {
    this.values = values;
  }

  static Parameters of(Parameters values, RecordedOutcome outcome) {
    return outcome
        .accept(new OutcomeParameters(values))
        .bind("resource_id", outcome.resourceId().orElse(null));
  }

  @Override
  public Parameters response(RecordedOutcome.Response response) {
    return values.bind("response", response.bytes().toByteArray()).bind("status", null);
  }

  @Override
  public Parameters reference(RecordedOutcome.Reference reference) {
    return values.bind("response", null).bind("status", null);
  }

  @Override
  public Parameters failure(RecordedOutcome.Failure failure) {
    return values.bind("response", null).bind("status", failure.bytes().toByteArray());
  }
}
