package io.github.grpcidempotency.postgres.internal.claim;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.postgres.internal.batch.BatchStatement;
import io.github.grpcidempotency.postgres.internal.sql.LockId;
import io.github.grpcidempotency.postgres.internal.sql.Parameters;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.spi.Claim.Settled;
import io.github.grpcidempotency.spi.RecordedOutcome;
import java.sql.Connection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Records the answers of several calls, or deletes their reservations. Skips a row that is not its
 * call's any more, or that another transaction has locked; then the call's own statement decides.
 */
record SettleBatch(String sql) implements BatchStatement<SettleBatch.Call, Settled> {
  /**
   * A call, and its answer if it has one.
   *
   * @param outcome empty if the reservation is deleted
   */
  record Call(Reservation claim, Optional<RecordedOutcome> outcome) {
    int bytes() {
      return response().or(this::error).map(ByteString::size).orElse(0);
    }

    Optional<ByteString> response() {
      return outcome.flatMap(Parameters::response);
    }

    Optional<ByteString> error() {
      return outcome.flatMap(Parameters::error);
    }

    @Nullable String resourceId() {
      return outcome.flatMap(RecordedOutcome::resourceId).map(ResourceId::toString).orElse(null);
    }
  }

  @Override
  public Kind kind() {
    return Kind.SETTLE;
  }

  @Override
  public List<Optional<Settled>> run(Connection connection, List<Call> calls) {
    BatchParameters<Call> all =
        new BatchParameters<>(
            calls, call -> call.claim().request().key(), call -> call.claim().operationId());
    return all
        .resultsById(
            StatementBatch.runForRows(
                connection,
                sql,
                values ->
                    all.identify(values)
                        .bind("attempts", all.integers(call -> call.claim().attempt()))
                        .bindLate(
                            "locks",
                            () -> all.longs(call -> LockId.of(call.claim().request().key())))
                        .bind("responses", all.bytes(Call::response))
                        .bind("statuses", all.bytes(Call::error))
                        .bind("resource_ids", all.texts(Call::resourceId))
                        .bind(
                            "time_lines", all.texts(call -> call.claim().timeLine().orElse(null))),
                row -> row.getObject("id", UUID.class)),
            id -> id)
        .stream()
        .map(settled -> settled.map(id -> Settled.DONE))
        .toList();
  }
}
