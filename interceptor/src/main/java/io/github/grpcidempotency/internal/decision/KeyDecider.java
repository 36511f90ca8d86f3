package io.github.grpcidempotency.internal.decision;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.FoundKey;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.KeyPolicy;
import java.util.Optional;

/**
 * Decides what a call's key makes of it. The rules, the first that fits:
 *
 * <ol>
 *   <li>The handler looks after keys itself: the call is none of ours.
 *   <li>A key where it is prohibited, or none where it is required: refuse.
 *   <li>No key: the call is none of ours.
 *   <li>Nobody whose key it could be: refuse where a key is required, otherwise let it pass, and be
 *       heard.
 *   <li>A key that no store could keep: refuse.
 *   <li>The call is an operation of the key's own caller, or else of the call's.
 * </ol>
 */
public final class KeyDecider {
  private KeyDecider() {}

  /**
   * Returns the decision for a call.
   *
   * @param policy what its procedure says
   * @param key what its source found
   * @param caller who calls
   * @param sourceName where the source looks for keys
   */
  public static KeyDecision decide(
      KeyPolicy policy, Optional<FoundKey> key, Optional<Caller> caller, String sourceName) {
    String keyName = key.flatMap(FoundKey::name).orElse(sourceName);
    boolean required =
        switch (policy) {
          case REQUIRED, DERIVED -> true;
          case OPTIONAL, PROHIBITED, HANDLER_INTERNAL -> false;
        };
    if (policy == KeyPolicy.HANDLER_INTERNAL) {
      return new KeyDecision.Unkeyed();
    }
    if (key.isEmpty()) {
      return required
          ? new KeyDecision.Refuse(Refusal.keyRequired(), keyName)
          : new KeyDecision.Unkeyed();
    }
    if (policy == KeyPolicy.PROHIBITED) {
      return new KeyDecision.Refuse(Refusal.keyProhibited(), keyName);
    }
    Optional<Caller> owner = key.get().caller().or(() -> caller);
    if (owner.isEmpty()) {
      return required
          ? new KeyDecision.Refuse(Refusal.callerRequired(), keyName)
          : new KeyDecision.NoCaller();
    }
    if (!IdempotencyKey.isKey(key.get().value())) {
      return new KeyDecision.Refuse(Refusal.invalidKey(), keyName);
    }
    return new KeyDecision.Keyed(new IdempotencyKey(owner.get(), key.get().value()), keyName);
  }
}
