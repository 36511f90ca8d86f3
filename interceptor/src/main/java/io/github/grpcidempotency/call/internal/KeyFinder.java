package io.github.grpcidempotency.call.internal;

import com.google.protobuf.Message;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.internal.decision.KeyDecision;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.event.CallEvents;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.FoundKey;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.key.KeyCall;
import io.github.grpcidempotency.key.KeyException;
import io.github.grpcidempotency.key.KeyProblem;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.proto.WireNames;
import io.github.grpcidempotency.store.StoreException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;

/**
 * Looks for the key of one call in the procedure's key source, and decides how the call continues.
 * The first rule that applies decides:
 *
 * <ol>
 *   <li>The handler manages keys itself: pass the call through.
 *   <li>A prohibited key is present, or a required key is missing: refuse.
 *   <li>No key: run the handler without a record; in a transaction, if it is transactional.
 *   <li>The key is malformed: refuse, unless it is optional and has no caller.
 *   <li>The key has no caller: refuse if a key is required; otherwise pass the call through and
 *       emit an event.
 *   <li>Otherwise the call is an operation. It belongs to the caller that the key source found, or
 *       else to the authenticated caller.
 * </ol>
 */
public final class KeyFinder {
  private final Procedure procedure;
  private final KeyPolicy policy;
  private final Optional<Caller> caller;
  private final Function<String, List<String>> headers;
  private final CallEvents events;
  private final KeySource source;

  /**
   * A call whose key is looked for.
   *
   * @param headers returns all values of a header
   * @param received the request; empty if the key source must not read it
   */
  public record ReceivedCall(
      String procedure,
      Optional<Caller> caller,
      Function<String, List<String>> headers,
      Optional<Message> received)
      implements KeyCall {
    @Override
    public List<String> metadata(String name) {
      return headers.apply(name);
    }

    @Override
    public Message request() {
      return received.orElseThrow(
          () ->
              new IllegalStateException(
                  "the key source read the request although its readsRequest() returned false"));
    }
  }

  /**
   * Creates the finder of one call.
   *
   * @param policy the procedure's key policy, or a stricter one that the client demands
   * @param headers returns all values of a header
   */
  public KeyFinder(
      Procedure procedure,
      KeyPolicy policy,
      Optional<Caller> caller,
      Function<String, List<String>> headers,
      CallEvents events) {
    this.procedure = procedure;
    this.policy = policy;
    this.caller = caller;
    this.headers = headers;
    this.events = events;
    this.source =
        procedure
            .keySource()
            .filter(given -> policy != KeyPolicy.PROHIBITED)
            .orElseGet(() -> KeySource.metadata(WireNames.KEY).as(procedure.keyFormat()));
  }

  public boolean readsRequest() {
    return policy != KeyPolicy.HANDLER_INTERNAL && source.readsRequest();
  }

  /**
   * Decides how the call continues.
   *
   * @param request the request; empty if the decision does not {@linkplain #readsRequest need} it
   */
  public KeyDecision decide(Optional<Message> request) {
    if (policy == KeyPolicy.HANDLER_INTERNAL) {
      return new KeyDecision.Unkeyed();
    }
    KeyCall call = new ReceivedCall(procedure.name(), caller, headers, request);
    for (KeySource each : source.alternatives()) {
      try {
        Optional<FoundKey> found =
            Objects.requireNonNull(
                each.find(call), () -> "the key source " + each.name() + " returned null");
        if (found.isPresent()) {
          return decide(found, found.get().name().orElse(each.name()));
        }
      } catch (KeyException unusable) {
        return unusable.problem() == KeyProblem.UNAUTHENTICATED
            ? onUnproven(unusable, each)
            : onMalformed(unusable, unusable.keyName().orElse(each.name()));
      } catch (StoreException unreachable) {
        events.extractionFailed(each.name(), KeyProblem.UNAVAILABLE, unreachable);
        return new KeyDecision.Refuse(
            Refusal.storeUnavailable(unreachable.failureCause()), source.name());
      } catch (RuntimeException | Error defect) {
        events.extractionFailed(each.name(), KeyProblem.DEFECT, defect);
        throw defect;
      }
    }
    return decide(Optional.empty(), source.name());
  }

  private KeyDecision onUnproven(KeyException unproven, KeySource failed) {
    events.extractionFailed(failed.name(), unproven.problem(), unproven);
    return KeyDecision.refuse(RefusalReason.CALLER_REQUIRED, source.name());
  }

  private KeyDecision onMalformed(KeyException malformed, String where) {
    if (policy == KeyPolicy.PROHIBITED) {
      return KeyDecision.refuse(RefusalReason.KEY_PROHIBITED, where);
    }
    if (caller.isEmpty() && !malformed.isOwned() && policy == KeyPolicy.OPTIONAL) {
      return noCaller();
    }
    events.keyInvalid(where, malformed.problem());
    return new KeyDecision.Refuse(Refusal.invalidKey(malformed), where);
  }

  private KeyDecision decide(Optional<FoundKey> key, String where) {
    KeyDecision decision = decide(policy, key, caller, where);
    if (key.isPresent() && decision instanceof KeyDecision.Unkeyed) {
      return noCaller();
    }
    if (key.isEmpty() && policy != KeyPolicy.PROHIBITED) {
      events.keyMissing(decision instanceof KeyDecision.Refuse);
    }
    return decision;
  }

  private KeyDecision noCaller() {
    events.unprotected(UnprotectedCause.NO_CALLER, null);
    return new KeyDecision.Unkeyed();
  }

  /** Applies the rules to a key that was found, or to a call without one. */
  public static KeyDecision decide(
      KeyPolicy policy, Optional<FoundKey> key, Optional<Caller> caller, String sourceName) {
    String keyName = key.flatMap(FoundKey::name).orElse(sourceName);
    boolean required = policy == KeyPolicy.REQUIRED;
    if (policy == KeyPolicy.HANDLER_INTERNAL) {
      return new KeyDecision.Unkeyed();
    }
    if (key.isEmpty()) {
      return required
          ? KeyDecision.refuse(RefusalReason.KEY_REQUIRED, keyName)
          : new KeyDecision.Unkeyed();
    }
    if (policy == KeyPolicy.PROHIBITED) {
      return KeyDecision.refuse(RefusalReason.KEY_PROHIBITED, keyName);
    }
    Optional<Caller> owner = key.get().caller().or(() -> caller);
    if (owner.isEmpty()) {
      return required
          ? KeyDecision.refuse(RefusalReason.CALLER_REQUIRED, keyName)
          : new KeyDecision.Unkeyed();
    }
    return new KeyDecision.Keyed(new IdempotencyKey(owner.get(), key.get().value()), keyName);
  }
}
