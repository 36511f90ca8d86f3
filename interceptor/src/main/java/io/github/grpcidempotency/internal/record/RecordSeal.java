package io.github.grpcidempotency.internal.record;

import com.google.common.io.ByteArrayDataOutput;
import com.google.common.io.ByteStreams;
import com.google.protobuf.ByteString;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ResponseProtection;
import io.github.grpcidempotency.procedure.internal.ServiceFunction;
import io.github.grpcidempotency.spi.FailurePhase;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.store.FailureCause;
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
    return ServiceFunction.call(() -> seal(answer, protection.get()), RecordSeal::notSealed);
  }

  /** The encryption may be temporarily unavailable, like a store. */
  private static RecordedOutcome notSealed(Throwable failure) {
    throw StoreException.of(
            FailurePhase.HANDLER_DONE,
            FailureCause.NO_CONNECTION,
            "the answer could not be encrypted")
        .initCause(failure);
  }

  /**
   * Decrypts an answer.
   *
   * @throws RefusedException if the answer cannot be decrypted: for good if the encryption throws
   *     an {@link IllegalStateException}, otherwise at the moment
   */
  public ByteString open(ByteString stored) {
    return procedure
        .responseProtection()
        .map(
            protection ->
                ServiceFunction.call(
                    () -> checked(protection.open(stored, binding())), RecordSeal::notOpened))
        .orElse(stored);
  }

  private static ByteString notOpened(Throwable failure) {
    throw failure instanceof IllegalStateException
        ? RefusedException.of(RefusalReason.RECORD_UNREADABLE, failure)
        : RefusedException.temporary(failure);
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
