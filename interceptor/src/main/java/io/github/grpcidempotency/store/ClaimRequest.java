package io.github.grpcidempotency.store;

import com.google.common.io.ByteArrayDataOutput;
import com.google.common.io.ByteStreams;
import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ResponseProtection;
import java.time.Duration;
import java.util.Optional;

/**
 * A call's request to be the one that runs.
 *
 * @param key the operation, within its caller's scope
 * @param procedure what is called
 * @param fingerprint what is asked
 * @param request the request itself, to compare it with records of other fingerprint versions
 * @param retention how long the record will answer retries: the procedure's setting when the call
 *     came, whatever becomes of the setting while it runs
 */
public record ClaimRequest(
    IdempotencyKey key,
    Procedure procedure,
    Fingerprint fingerprint,
    Optional<Message> request,
    Duration retention) {

  /** Makes the request of a call whose fingerprint is only comparable within its own version. */
  public ClaimRequest(IdempotencyKey key, Procedure procedure, Fingerprint fingerprint) {
    this(key, procedure, fingerprint, Optional.empty(), procedure.retention());
  }

  /** Makes the request of a call. */
  public static ClaimRequest of(IdempotencyKey key, Procedure procedure, Message request) {
    Fingerprint fingerprint = procedure.fingerprinter().fingerprint(request);
    return new ClaimRequest(
        key, procedure, fingerprint, Optional.of(request), procedure.retention());
  }

  /** Returns how the request compares with a recorded one. */
  public Fingerprint.Match compare(Fingerprint recorded) {
    if (fingerprint.version() == recorded.version()) {
      return fingerprint.matches(recorded) ? Fingerprint.Match.SAME : Fingerprint.Match.OTHER;
    }
    return request
        .map(asked -> procedure.fingerprinter().compare(asked, recorded))
        .orElse(Fingerprint.Match.INCOMPARABLE);
  }

  /**
   * Returns what a store keeps for an answer, be it a response or an error.
   *
   * @throws StoreException if it cannot be sealed, and so not be recorded for the time being
   */
  public ByteString seal(ByteString answer) {
    Optional<ResponseProtection> protection = procedure.responseProtection();
    if (protection.isEmpty()) {
      return answer;
    }
    try {
      return protection.get().seal(answer, binding());
    } catch (RuntimeException failure) {
      // What seals may be out of reach for a while, just as a store may.
      throw new StoreException(
          "the answer could not be sealed",
          failure,
          FailurePhase.HANDLER_DONE,
          FailureCause.NO_CONNECTION);
    }
  }

  /**
   * Returns the answer that a store has kept.
   *
   * @throws IllegalStateException if it cannot be opened
   */
  public ByteString open(ByteString stored) {
    return procedure
        .responseProtection()
        .map(protection -> protection.open(stored, binding()))
        .orElse(stored);
  }

  private ByteString binding() {
    ByteArrayDataOutput binding = ByteStreams.newDataOutput();
    binding.writeUTF(key.caller().userId().toString());
    binding.writeUTF(key.stored());
    binding.writeUTF(procedure.name());
    return ByteString.copyFrom(binding.toByteArray());
  }
}
