package io.github.grpcidempotency.grpc.internal;

import com.google.protobuf.Any;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Message;
import io.github.grpcidempotency.call.internal.KeyFinder;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.record.KeyTexts;
import io.github.grpcidempotency.internal.record.RefusedException;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.FoundKey;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.key.KeyCall;
import io.github.grpcidempotency.key.KeyProblem;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.internal.MethodSchema;
import io.github.grpcidempotency.proto.v1.RecoverRequest;
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
            .filter(text -> IdempotencyKey.problemOf(text).isEmpty())
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
      KeySource header = KeySource.metadata("key").as(procedure.keyFormat());
      return header.keyOf(asked.getKey()).map(Set::of).orElse(Set.of());
    }
    if (asked.hasRequest()) {
      return Set.of(ofRequest(source.get()));
    }
    Set<String> texts = new LinkedHashSet<>(List.of(asked.getKey()));
    texts.addAll(KeyTexts.of(procedure, asked.getKey()));
    return texts;
  }

  /**
   * Finds the key in the request, as the call itself does. Every header of the call has the key as
   * its value.
   */
  private String ofRequest(KeySource source) {
    List<String> values = asked.getKey().isEmpty() ? List.of() : List.of(asked.getKey());
    KeyCall call =
        new KeyFinder.ReceivedCall(
            procedure.name(),
            Optional.of(caller),
            header -> values,
            Optional.of(parsed(asked.getRequest())));
    FoundKey found =
        Objects.requireNonNull(
                source.find(call), () -> "the key source " + source.name() + " returned null")
            .orElseThrow(() -> RefusedException.of(RefusalReason.KEY_REQUIRED));
    if (found.caller().filter(owner -> !owner.equals(caller)).isPresent()) {
      throw RefusedException.of(RefusalReason.KEY_UNKNOWN);
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
}
