package io.github.grpcidempotency.grpc;

import com.google.common.collect.ImmutableList;
import com.google.protobuf.Message;
import io.github.grpcidempotency.event.ExtractionFailure;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.internal.decision.KeyDecider;
import io.github.grpcidempotency.internal.decision.KeyDecision;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.event.CallEvents;
import io.github.grpcidempotency.internal.wire.WireMetadata;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.FoundKey;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.key.KeyCall;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.key.MalformedKeyException;
import io.github.grpcidempotency.key.UnauthenticatedKeyException;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.store.StoreException;
import io.grpc.Metadata;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Looks for the key of one call in the procedure's key source, and decides how the call continues.
 */
final class KeyFinder {
  private final Procedure procedure;
  private final KeyPolicy policy;
  private final Optional<Caller> caller;
  private final Metadata headers;
  private final CallEvents events;
  private final KeySource source;

  KeyFinder(Procedure procedure, Optional<Caller> caller, Metadata headers, CallEvents events) {
    this.procedure = procedure;
    this.policy = RequestHeaders.keyPolicy(procedure, headers);
    this.caller = caller;
    this.headers = headers;
    this.events = events;
    this.source =
        procedure
            .keySource()
            .filter(given -> policy != KeyPolicy.PROHIBITED)
            .orElseGet(
                () -> KeySource.metadata(IdempotencyMetadata.KEY.name()).as(procedure.keyFormat()));
  }

  boolean readsRequest() {
    return policy != KeyPolicy.HANDLER_INTERNAL && source.readsRequest();
  }

  /**
   * Decides how the call continues.
   *
   * @param request the request; empty if the decision does not {@linkplain #readsRequest need} it
   */
  KeyDecision decide(Optional<Message> request) {
    if (policy == KeyPolicy.HANDLER_INTERNAL) {
      return new KeyDecision.Unkeyed();
    }
    KeyCall call = new Call(request);
    for (KeySource each : source.alternatives()) {
      try {
        Optional<FoundKey> found =
            Objects.requireNonNull(
                each.find(call), () -> "the key source " + each.name() + " returned null");
        if (found.isPresent()) {
          return decide(found, found.get().name().orElse(each.name()));
        }
      } catch (MalformedKeyException malformed) {
        return onMalformed(malformed, malformed.keyName().orElse(each.name()));
      } catch (UnauthenticatedKeyException unproven) {
        events.extractionFailed(each.name(), ExtractionFailure.UNAUTHENTICATED, unproven);
        return new KeyDecision.Refuse(
            Refusal.of(RefusalReason.IDEMPOTENCY_CALLER_REQUIRED), source.name());
      } catch (StoreException unreachable) {
        events.extractionFailed(each.name(), ExtractionFailure.UNAVAILABLE, unreachable);
        return new KeyDecision.Refuse(
            Refusal.storeUnavailable(unreachable.failureCause()), source.name());
      } catch (RuntimeException | Error defect) {
        events.extractionFailed(each.name(), ExtractionFailure.DEFECT, defect);
        throw defect;
      }
    }
    return decide(Optional.empty(), source.name());
  }

  private KeyDecision onMalformed(MalformedKeyException malformed, String where) {
    if (policy == KeyPolicy.PROHIBITED) {
      return new KeyDecision.Refuse(Refusal.of(RefusalReason.IDEMPOTENCY_KEY_PROHIBITED), where);
    }
    if (caller.isEmpty() && policy == KeyPolicy.OPTIONAL) {
      return noCaller();
    }
    events.keyInvalid(where, malformed.problem());
    return new KeyDecision.Refuse(Refusal.invalidKey(malformed), where);
  }

  private KeyDecision decide(Optional<FoundKey> key, String where) {
    KeyDecision decision = KeyDecider.decide(policy, key, caller, where);
    if (key.isPresent() && decision instanceof KeyDecision.Unkeyed) {
      return noCaller();
    }
    if (key.isEmpty()) {
      if (policy != KeyPolicy.PROHIBITED) {
        events.keyMissing(decision instanceof KeyDecision.Refuse);
      }
    } else if (decision instanceof KeyDecision.Refuse refuse
        && refuse.refusal().reason() == RefusalReason.IDEMPOTENCY_KEY_INVALID) {
      IdempotencyKey.problemOf(key.get().value())
          .ifPresent(problem -> events.keyInvalid(where, problem));
    }
    return decision;
  }

  private KeyDecision noCaller() {
    events.unprotected(UnprotectedCause.NO_CALLER, null);
    return new KeyDecision.Unkeyed();
  }

  private final class Call implements KeyCall {
    private final Optional<Message> request;

    Call(Optional<Message> request) {
      this.request = request;
    }

    @Override
    public String procedure() {
      return procedure.name();
    }

    @Override
    public Optional<Caller> caller() {
      return caller;
    }

    @Override
    public List<String> metadata(String name) {
      Iterable<String> values = headers.getAll(WireMetadata.ascii(name));
      return values == null ? List.of() : ImmutableList.copyOf(values);
    }

    @Override
    public Message request() {
      return request.orElseThrow(
          () ->
              new IllegalStateException(
                  "the key source read the request although its readsRequest() returned false"));
    }
  }
}
