package io.github.grpcidempotency.call.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.internal.decision.KeyDecision;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.FoundKey;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.KeyPolicy;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KeyFinderTest {
  private static final String SOURCE = "x-event-id";
  private static final Caller CALLER = Caller.of(new UUID(1, 2));
  private static final Caller PRINCIPAL = Caller.of(new UUID(3, 4));
  private static final String KEY = "a-key";

  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          # policy,         key,   caller, verdict
          OPTIONAL,         false, false,  UNKEYED
          OPTIONAL,         false, true,   UNKEYED
          OPTIONAL,         true,  false,  UNKEYED
          OPTIONAL,         true,  true,   KEYED
          REQUIRED,         false, false,  KEY_REQUIRED
          REQUIRED,         false, true,   KEY_REQUIRED
          REQUIRED,         true,  false,  CALLER_REQUIRED
          REQUIRED,         true,  true,   KEYED
          HANDLER_INTERNAL, false, false,  UNKEYED
          HANDLER_INTERNAL, false, true,   UNKEYED
          HANDLER_INTERNAL, true,  false,  UNKEYED
          HANDLER_INTERNAL, true,  true,   UNKEYED
          PROHIBITED,       false, false,  UNKEYED
          PROHIBITED,       false, true,   UNKEYED
          PROHIBITED,       true,  false,  KEY_PROHIBITED
          PROHIBITED,       true,  true,   KEY_PROHIBITED
          """)
  void theKeyPolicyDecidesByKeyAndCaller(
      KeyPolicy policy, boolean key, boolean caller, Verdict verdict) {
    assertThat(
            KeyFinder.decide(
                policy,
                key ? Optional.of(FoundKey.of(KEY)) : Optional.empty(),
                caller ? Optional.of(CALLER) : Optional.empty(),
                SOURCE))
        .isEqualTo(verdict.decision());
  }

  @Test
  void theCallerOfAKeyOverridesTheCallerOfTheCall() {
    FoundKey key = FoundKey.of(KEY, PRINCIPAL);

    KeyDecision decision = new KeyDecision.Keyed(new IdempotencyKey(PRINCIPAL, KEY), SOURCE);
    assertThat(KeyFinder.decide(KeyPolicy.REQUIRED, Optional.of(key), Optional.empty(), SOURCE))
        .isEqualTo(decision);
    assertThat(KeyFinder.decide(KeyPolicy.REQUIRED, Optional.of(key), Optional.of(CALLER), SOURCE))
        .isEqualTo(decision);
  }

  @Test
  void theNameOfAKeyOverridesTheNameOfItsSource() {
    FoundKey key = new FoundKey(KEY, Optional.empty(), Optional.of("request_id"));

    assertThat(KeyFinder.decide(KeyPolicy.REQUIRED, Optional.of(key), Optional.of(CALLER), SOURCE))
        .isEqualTo(new KeyDecision.Keyed(new IdempotencyKey(CALLER, KEY), "request_id"));
    assertThat(KeyFinder.decide(KeyPolicy.REQUIRED, Optional.of(key), Optional.empty(), SOURCE))
        .isEqualTo(new KeyDecision.Refuse(Refusal.of(RefusalReason.CALLER_REQUIRED), "request_id"));
  }

  /** Every decision that there is. */
  enum Verdict {
    KEYED,
    UNKEYED,
    KEY_REQUIRED,
    KEY_PROHIBITED,
    CALLER_REQUIRED;

    KeyDecision decision() {
      return switch (this) {
        case KEYED -> new KeyDecision.Keyed(new IdempotencyKey(CALLER, KEY), SOURCE);
        case UNKEYED -> new KeyDecision.Unkeyed();
        case KEY_REQUIRED -> new KeyDecision.Refuse(Refusal.of(RefusalReason.KEY_REQUIRED), SOURCE);
        case KEY_PROHIBITED ->
            new KeyDecision.Refuse(Refusal.of(RefusalReason.KEY_PROHIBITED), SOURCE);
        case CALLER_REQUIRED ->
            new KeyDecision.Refuse(Refusal.of(RefusalReason.CALLER_REQUIRED), SOURCE);
      };
    }
  }
}
