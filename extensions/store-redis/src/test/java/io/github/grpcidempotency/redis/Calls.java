package io.github.grpcidempotency.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.store.StoreException;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** What the tests claim and answer. */
final class Calls {
  static final RecordedProcedure PROCEDURE =
      RecordedProcedure.of(
          Procedure.named("things.Things/CreateThing").attach(Duration.ofMinutes(1)).build());

  static final RecordedOutcome ANSWER = answer("an answer");

  private Calls() {}

  /** Returns a claim of a new key. */
  static ClaimRequest request() {
    return request(UUID.randomUUID().toString());
  }

  static ClaimRequest request(String key) {
    return ClaimRequest.of(
            new IdempotencyKey(Caller.of(UUID.nameUUIDFromBytes(new byte[0])), key),
            PROCEDURE,
            new Fingerprint(1, ByteString.copyFrom(new byte[32])))
        .retainedFor(Duration.ofHours(1));
  }

  /** Returns the same request of a call whose record lasts so long. */
  static ClaimRequest withRetention(ClaimRequest request, Duration retention) {
    return request.retainedFor(retention);
  }

  static RecordedOutcome answer(String text) {
    return new RecordedOutcome.Response(ByteString.copyFromUtf8(text), Optional.empty());
  }

  static Claim win(IdempotencyStore store, ClaimRequest request) {
    ClaimResult result = store.claim(request);
    assertThat(result).isInstanceOf(ClaimResult.Won.class);
    return ((ClaimResult.Won) result).claim();
  }

  static Optional<RecordedOutcome> recorded(IdempotencyStore store, ClaimRequest request) {
    return store
        .find(request.key(), request.procedure())
        .filter(ClaimResult.Recorded.class::isInstance)
        .map(found -> ((ClaimResult.Recorded) found).outcome());
  }

  static Duration leaseLeft(ClaimResult result) {
    return ((ClaimResult.InFlight) result).leaseLeft().orElseThrow();
  }

  static StoreException failureOf(ThrowingCallable work) {
    StoreException failure = catchThrowableOfType(StoreException.class, work);
    assertThat(failure).isNotNull();
    return failure;
  }
}
