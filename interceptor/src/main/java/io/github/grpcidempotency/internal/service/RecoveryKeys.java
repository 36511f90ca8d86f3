package io.github.grpcidempotency.internal.service;

import com.google.protobuf.Any;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Message;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.method.MethodSchema;
import io.github.grpcidempotency.internal.record.RefusedException;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.FoundKey;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.key.KeyCall;
import io.github.grpcidempotency.key.KeyProblem;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.key.MalformedKeyException;
import io.github.grpcidempotency.key.UnauthenticatedKeyException;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.proto.v1.RecoverRequest;
import io.github.grpcidempotency.store.StoreException;
import io.grpc.MethodDescriptor;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Finds the keys that a {@code Recover} request may refer to. If a key source computes the key from
 * a value, the client can send the value, the text of the key, or the request.
 */
record RecoveryKeys(Procedure procedure, Caller caller, RecoverRequest asked) {
  /** Returns the possible keys, the most likely first; at least one. */
  static List<IdempotencyKey> of(Procedure procedure, Caller caller, RecoverRequest asked) {
    RecoveryKeys key = new RecoveryKeys(procedure, caller, asked);
    List<IdempotencyKey> keys =
        key.texts().stream()
            .filter(IdempotencyKey::isKey)
            .map(text -> new IdempotencyKey(caller, text))
            .toList();
    if (keys.isEmpty()) {
      throw new RefusedException(Refusal.invalidKey(KeyProblem.OTHER));
    }
    return keys;
  }

  private Set<String> texts() {
    Optional<KeySource> source = procedure.keySource();
    if (source.isEmpty()) {
      return ofValue(KeySource.metadata("key").as(procedure.keyFormat()));
    }
    return asked.hasRequest()
        ? Set.of(ofRequest(source.get()))
        : ofValue(asked.getKey(), source.get().alternatives());
  }

  /** Finds the keys that a call would have if its header contained the value. */
  private Set<String> ofValue(KeySource header) {
    try {
      return header.keyOf(asked.getKey()).map(Set::of).orElse(Set.of());
    } catch (MalformedKeyException malformed) {
      throw new RefusedException(Refusal.invalidKey(malformed), Optional.of(malformed));
    }
  }

  private static Set<String> ofValue(String value, List<KeySource> sources) {
    Set<String> texts = new LinkedHashSet<>(List.of(value));
    for (KeySource source : sources) {
      try {
        Objects.requireNonNull(
                source.keyOf(value), () -> "the key source " + source.name() + " returned null")
            .ifPresent(texts::add);
      } catch (MalformedKeyException otherSource) {
        // The text is not a value of this source.
      }
    }
    return texts;
  }

  /** Finds the key in the request, as the call itself does. */
  private String ofRequest(KeySource source) {
    FoundKey found;
    try {
      found =
          Objects.requireNonNull(
                  source.find(new Call(parsed(asked.getRequest()))),
                  () -> "the key source " + source.name() + " returned null")
              .orElseThrow(
                  () -> new RefusedException(Refusal.of(RefusalReason.IDEMPOTENCY_KEY_REQUIRED)));
    } catch (MalformedKeyException malformed) {
      throw new RefusedException(Refusal.invalidKey(malformed), Optional.of(malformed));
    } catch (UnauthenticatedKeyException unproven) {
      throw new RefusedException(
          Refusal.of(RefusalReason.IDEMPOTENCY_CALLER_REQUIRED), Optional.of(unproven));
    } catch (StoreException unreachable) {
      throw new RefusedException(
          Refusal.storeUnavailable(unreachable.failureCause()), Optional.of(unreachable));
    }
    if (found.caller().filter(owner -> !owner.equals(caller)).isPresent()) {
      throw new RefusedException(Refusal.of(RefusalReason.IDEMPOTENCY_KEY_UNKNOWN));
    }
    return found.value();
  }

  private Message parsed(Any request) {
    MethodDescriptor<?, ?> method = procedure.method().orElseThrow();
    String type = MethodSchema.request(method).map(Descriptor::getFullName).orElse("");
    if (!request.getTypeUrl().endsWith("/" + type)) {
      throw ServiceError.invalid("request is not a " + type);
    }
    try {
      return (Message) method.parseRequest(request.getValue().newInput());
    } catch (RuntimeException malformed) {
      throw ServiceError.invalid("request cannot be parsed as a " + type);
    }
  }

  /** The call whose outcome is read. Every header of the call has the key as its value. */
  private final class Call implements KeyCall {
    private final Message request;

    Call(Message request) {
      this.request = request;
    }

    @Override
    public String procedure() {
      return procedure.name();
    }

    @Override
    public Optional<Caller> caller() {
      return Optional.of(caller);
    }

    @Override
    public List<String> metadata(String name) {
      return asked.getKey().isEmpty() ? List.of() : List.of(asked.getKey());
    }

    @Override
    public Message request() {
      return request;
    }
  }
}
