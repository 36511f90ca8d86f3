package io.github.grpcidempotency.postgres.internal.claim;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.postgres.internal.batch.BatchStatement;
import io.github.grpcidempotency.postgres.internal.sql.LockId;
import io.github.grpcidempotency.postgres.internal.sql.Parameters;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.store.Claim.Settled;
import io.github.grpcidempotency.store.RecordedOutcome;
import java.sql.Connection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Records the answers of several calls, or deletes their reservations. Skips a row that is not its
 * call's any more, or that another transaction has locked; then the call's own statement decides.
 */
public record SettleBatch(String sql) implements BatchStatement<SettleBatch.Call, Settled> {
  /**
   * A call, and its answer if it has one.
   *
   * @param outcome empty if the reservation is deleted
   */
  public record Call(ReservedRow row, Optional<RecordedOutcome> outcome) {
    int bytes() {
      return response().or(this::status).map(ByteString::size).orElse(0);
    }

    Optional<ByteString> response() {
      return outcome.flatMap(Parameters::response);
    }

    Optional<ByteString> status() {
      return outcome.flatMap(Parameters::status);
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
        new BatchParameters<>(calls, call -> call.row().request().key(), call -> call.row().id());
    return all
        .resultsById(
            StatementBatch.runForRows(
                connection,
                sql,
                values ->
                    all.identify(values)
                        .bind("attempts", all.integers(call -> call.row().attempt()))
                        .bindLate(
                            "locks", () -> all.longs(call -> LockId.of(call.row().request().key())))
                        .bind("responses", all.bytes(Call::response))
                        .bind("statuses", all.bytes(Call::status))
                        .bind("resource_ids", all.texts(Call::resourceId))
                        .bind("time_lines", all.texts(call -> call.row().timeLine().orElse(null))),
                row -> row.getObject("id", UUID.class)),
            id -> id)
        .stream()
        .map(settled -> settled.map(id -> Settled.DONE))
        .toList();
  }
}
