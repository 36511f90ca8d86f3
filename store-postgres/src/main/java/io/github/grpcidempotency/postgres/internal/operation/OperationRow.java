package io.github.grpcidempotency.postgres.internal.operation;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.postgres.internal.sql.RecordRow;
import io.github.grpcidempotency.procedure.IdempotencyStatus;
import io.github.grpcidempotency.store.OperationCatalog.OwnedResource;
import io.github.grpcidempotency.store.StoredOperation;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Optional;

/** An operation's row, as {@code select_operations.sql} returns it. */
record OperationRow(
    RecordRow content, String storedKey, Instant created, Optional<Instant> completed) {

  static OperationRow read(ResultSet row) throws SQLException {
    return new OperationRow(
        RecordRow.read(row),
        row.getString("idempotency_key"),
        row.getObject("created", OffsetDateTime.class).toInstant(),
        Optional.ofNullable(row.getObject("completed", OffsetDateTime.class))
            .map(OffsetDateTime::toInstant));
  }

  /** Returns the resource whose asynchronous work may still be running. */
  Optional<OwnedResource> resource(Caller caller) {
    return content
        .resourceId()
        .filter(resource -> content.ended())
        .map(resource -> new OwnedResource(caller.userId(), resource));
  }

  StoredOperation operation(Caller caller, Optional<IdempotencyStatus> status) {
    return new StoredOperation(
        content.id(),
        IdempotencyKey.ofStored(caller, storedKey),
        content.procedure(),
        created,
        completed,
        content.ended() ? content.recorded(status) : content.inFlight());
  }
}
