package io.github.grpcidempotency.postgres.internal.sql;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.store.ClaimRequest;
import java.util.UUID;

/** The parameters that identify an operation. Each statement uses those that it needs. */
public final class OperationParameters {
  private OperationParameters() {}

  public static Parameters of(Parameters parameters, ClaimRequest request, UUID id) {
    return of(parameters, request.key())
        .bind("id", id)
        .bind("procedure", request.procedure().name())
        .bind("hash", request.fingerprint().hash().toByteArray())
        .bind("hash_version", request.fingerprint().version())
        .bind("retention_millis", request.retention().toMillis())
        .bind("trace", "bytea", request.trace().map(ByteString::toByteArray));
  }

  public static Parameters of(Parameters parameters, IdempotencyKey key) {
    return parameters
        .bind("user", key.caller().userId().toString())
        .bind("key", key.stored())
        .bindLate("lock", () -> LockId.of(key));
  }
}
