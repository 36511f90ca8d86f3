package io.github.grpcidempotency.internal.runtime;

import com.google.common.io.ByteArrayDataOutput;
import com.google.common.io.ByteStreams;
import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ResponseProtection;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.FailurePhase;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.RecordedProcedure;
import io.github.grpcidempotency.store.StoreException;
import java.time.Duration;
import java.util.Optional;

/**
 * A call, or a piece of work, that carries a key: what a store is asked, and what no store need
 * know. Immutable.
 *
 * @param key the operation, within its caller's scope
 * @param procedure what is called
 * @param fingerprint what is asked, under the newest rules
 * @param message the request itself, to compare it with records under older rules
 * @param retention the procedure's setting when the call came
 */
public record KeyedRequest(
    IdempotencyKey key,
    Procedure procedure,
    Fingerprint fingerprint,
    Message message,
    Duration retention) {

  /** Makes the request of a call. */
  public static KeyedRequest of(IdempotencyKey key, Procedure procedure, Message message) {
    return new KeyedRequest(
        key,
        procedure,
        procedure.fingerprinter().fingerprint(message),
        message,
        procedure.retention());
  }

  /** Returns what a store is asked. */
  public ClaimRequest claim() {
    return claim(fingerprint);
  }

  /** Returns how the request compares with a recorded one. */
  public Fingerprint.Match compare(Fingerprint recorded) {
    if (fingerprint.version() == recorded.version()) {
      return fingerprint.matches(recorded) ? Fingerprint.Match.SAME : Fingerprint.Match.OTHER;
    }
    return procedure.fingerprinter().compare(message, recorded);
  }

  /**
   * Returns what a store is asked to take over the same request's abandoned reservation that an
   * older version of the fingerprint's rules has made; empty if there is none.
   */
  Optional<ClaimRequest> takeOverOfOlderVersion(ClaimResult met) {
    return met instanceof ClaimResult.InFlight inFlight
            && inFlight.leaseLeft().filter(Duration::isZero).isPresent()
            && inFlight.procedure().filter(procedure.name()::equals).isPresent()
        ? inFlight
            .fingerprint()
            .filter(recorded -> recorded.version() < fingerprint.version())
            .filter(recorded -> compare(recorded) == Fingerprint.Match.SAME)
            .map(this::claim)
        : Optional.empty();
  }

  /**
   * Returns what a store keeps for an answer.
   *
   * @throws StoreException if it cannot be sealed, and so not be recorded for the time being
   */
  public RecordedOutcome seal(RecordedOutcome answer) {
    Optional<ResponseProtection> protection = procedure.responseProtection();
    if (protection.isEmpty()) {
      return answer;
    }
    try {
      return answer instanceof RecordedOutcome.Response response
          ? new RecordedOutcome.Response(
              protection.get().seal(response.bytes(), binding()), response.resourceId())
          : new RecordedOutcome.Failure(
              protection.get().seal(((RecordedOutcome.Failure) answer).bytes(), binding()));
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

  private ClaimRequest claim(Fingerprint under) {
    return new ClaimRequest(key, RecordedProcedure.of(procedure), under, retention);
  }

  private ByteString binding() {
    ByteArrayDataOutput binding = ByteStreams.newDataOutput();
    binding.writeUTF(key.caller().userId().toString());
    binding.writeUTF(key.stored());
    binding.writeUTF(procedure.name());
    return ByteString.copyFrom(binding.toByteArray());
  }
}
