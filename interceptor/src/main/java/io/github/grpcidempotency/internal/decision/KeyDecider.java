package io.github.grpcidempotency.internal.decision;

import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.FoundKey;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.key.KeyProblem;
import io.github.grpcidempotency.procedure.KeyPolicy;
import java.util.Optional;

/**
 * Decides how a call continues, given its key. The first rule that applies decides:
 *
 * <ol>
 *   <li>The handler manages keys itself: pass the call through.
 *   <li>A prohibited key is present, or a required key is missing: refuse.
 *   <li>No key: pass the call through.
 *   <li>The key has no caller: refuse if a key is required; otherwise pass the call through and
 *       emit an event.
 *   <li>The key has characters that no store can keep: refuse.
 *   <li>Otherwise the call is an operation. It belongs to the caller that the key source found, or
 *       else to the authenticated caller.
 * </ol>
 */
public final class KeyDecider {
  private KeyDecider() {}

  public static KeyDecision decide(
      KeyPolicy policy, Optional<FoundKey> key, Optional<Caller> caller, String sourceName) {
    String keyName = key.flatMap(FoundKey::name).orElse(sourceName);
    boolean required = policy == KeyPolicy.REQUIRED;
    if (policy == KeyPolicy.HANDLER_INTERNAL) {
      return new KeyDecision.Unkeyed();
    }
    if (key.isEmpty()) {
      return required
          ? new KeyDecision.Refuse(Refusal.of(RefusalReason.IDEMPOTENCY_KEY_REQUIRED), keyName)
          : new KeyDecision.Unkeyed();
    }
    if (policy == KeyPolicy.PROHIBITED) {
      return new KeyDecision.Refuse(Refusal.of(RefusalReason.IDEMPOTENCY_KEY_PROHIBITED), keyName);
    }
    Optional<Caller> owner = key.get().caller().or(() -> caller);
    if (owner.isEmpty()) {
      return required
          ? new KeyDecision.Refuse(Refusal.of(RefusalReason.IDEMPOTENCY_CALLER_REQUIRED), keyName)
          : new KeyDecision.Unkeyed();
    }
    Optional<KeyProblem> problem = IdempotencyKey.problemOf(key.get().value());
    if (problem.isPresent()) {
      return new KeyDecision.Refuse(Refusal.invalidKey(problem.get()), keyName);
    }
    return new KeyDecision.Keyed(new IdempotencyKey(owner.get(), key.get().value()), keyName);
  }
}
