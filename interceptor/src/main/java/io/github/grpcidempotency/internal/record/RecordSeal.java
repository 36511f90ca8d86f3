package io.github.grpcidempotency.internal.record;

import com.google.common.io.ByteArrayDataOutput;
import com.google.common.io.ByteStreams;
import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ResponseProtection;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.FailurePhase;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.StoreException;
import java.util.Objects;
import java.util.Optional;

/**
 * Encrypts and decrypts the recorded answer of one operation, if its procedure has an encryption.
 */
public record RecordSeal(IdempotencyKey key, Procedure procedure) {
  public RecordedOutcome seal(RecordedOutcome answer) {
    Optional<ResponseProtection> protection = procedure.responseProtection();
    if (protection.isEmpty()) {
      return answer;
    }
    try {
      return seal(answer, protection.get());
    } catch (RuntimeException failure) {
      // The encryption may be temporarily unavailable, like a store.
      throw new StoreException(
          "the answer could not be encrypted",
          failure,
          FailurePhase.HANDLER_DONE,
          FailureCause.NO_CONNECTION);
    }
  }

  public ByteString open(ByteString stored) {
    return procedure
        .responseProtection()
        .map(protection -> checked(protection.open(stored, binding())))
        .orElse(stored);
  }

  private RecordedOutcome seal(RecordedOutcome answer, ResponseProtection protection) {
    if (answer instanceof RecordedOutcome.Response response) {
      return new RecordedOutcome.Response(
          checked(protection.seal(response.bytes(), binding())), response.resourceId());
    }
    return answer instanceof RecordedOutcome.Failure failure
        ? new RecordedOutcome.Failure(checked(protection.seal(failure.bytes(), binding())))
        : answer;
  }

  private ByteString checked(ByteString bytes) {
    return Objects.requireNonNull(
        bytes, () -> procedure.name() + ": its ResponseProtection returned null");
  }

  private ByteString binding() {
    ByteArrayDataOutput binding = ByteStreams.newDataOutput();
    binding.writeUTF(key.caller().userId().toString());
    binding.writeUTF(key.qualified());
    binding.writeUTF(procedure.name());
    return ByteString.copyFrom(binding.toByteArray());
  }
}
