package io.github.grpcidempotency.postgres;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.store.ClaimRequest;
import java.util.UUID;

/**
 * The parameters that identify an operation in every statement; a statement uses those it needs.
 */
final class OperationParameters {
  private OperationParameters() {}

  static Parameters of(Parameters parameters, ClaimRequest request, UUID id) {
    return of(parameters, request).bind("id", id);
  }

  /** Returns those of an operation that has no id yet. */
  static Parameters of(Parameters parameters, ClaimRequest request) {
    IdempotencyKey key = request.key();
    return parameters
        .bind("user", key.caller().userId().toString())
        .bind("key", key.stored())
        .bindLate("lock", () -> LockId.of(key))
        .bind("procedure", request.procedure().name())
        .bind("hash", request.fingerprint().hash().toByteArray())
        .bind("hash_version", request.fingerprint().version())
        .bind("retention_millis", request.retention().toMillis())
        .bind("trace", "bytea", request.trace().map(ByteString::toByteArray));
  }
}
