package io.github.grpcidempotency.postgres.internal.claim;

import io.github.grpcidempotency.postgres.internal.batch.BatchStatement;
import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.sql.LockId;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.spi.ClaimRequest;
import java.sql.Connection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Inserts the reservations of several calls whose keys have no row. */
public record ClaimBatch(RecordDatabase database)
    implements BatchStatement<ClaimBatch.Call, Optional<Inserted>> {
  /** A call, and the id of its reservation. */
  public record Call(ClaimRequest request, UUID id) {}

  @Override
  public Kind kind() {
    return Kind.CLAIM;
  }

  @Override
  public List<Optional<Optional<Inserted>>> run(Connection connection, List<Call> calls) {
    long sent = System.nanoTime();
    BatchParameters<Call> all =
        new BatchParameters<>(calls, call -> call.request().key(), Call::id);
    return all
        .resultsById(
            StatementBatch.runForRows(
                connection,
                database.sql().claimBatch,
                values ->
                    all.identify(values)
                        .bind("procedures", all.texts(call -> call.request().procedure().name()))
                        .bind(
                            "hashes",
                            all.bytes(call -> Optional.of(call.request().fingerprint().hash())))
                        .bind(
                            "hash_versions",
                            all.integers(call -> call.request().fingerprint().version()))
                        .bind(
                            "retentions", all.longs(call -> call.request().retention().toMillis()))
                        .bind("traces", all.bytes(call -> call.request().trace()))
                        .bind("locks", all.longs(call -> LockId.of(call.request().key())))
                        .bind("lease_millis", database.lease().toMillis())
                        .bind("server", database.settings().serverName()),
                row -> Inserted.read(row, sent)),
            Inserted::id)
        .stream()
        .map(Optional::of)
        .toList();
  }
}
