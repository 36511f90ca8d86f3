package io.github.grpcidempotency.torture;

import com.google.common.base.Stopwatch;
import io.github.grpcidempotency.grpc.CurrentOperation;
import io.github.grpcidempotency.torture.Operation.Scope;
import io.github.grpcidempotency.torture.v1.Effect;
import io.github.grpcidempotency.torture.v1.EffectRequest;
import java.util.Map;
import java.util.UUID;

/** One run of a handler: what it must write, whether it has a claim, when it began, and its way. */
record EffectRun(Effect effect, boolean guarded, Stopwatch watch, Way way) {
  /** Writes it, with the parameters of {@link #parameters}. */
  static final String INSERT =
      """
      INSERT INTO torture.effects (key, user_id, server, form, payload, value, guarded, way, began)
      VALUES (:key, :user, :server, :form, :payload, :value, :guarded, :way,
              clock_timestamp() - :millis * interval '1 millisecond')
      """;

  static EffectRun begin(Form form, EffectRequest request) {
    Scope scope = TortureServer.SCOPE.get();
    Effect effect =
        Effect.newBuilder()
            .setUser(scope.user().toString())
            .setKey(scope.key())
            .setForm(form.name())
            .setPayload(request.getPayload())
            .setValue(UUID.randomUUID().toString())
            .build();
    return new EffectRun(
        effect, CurrentOperation.operationId().isPresent(), Stopwatch.createStarted(), Way.PLAIN);
  }

  Form form() {
    return Form.valueOf(effect.getForm());
  }

  EffectRun by(Way other) {
    return new EffectRun(effect, guarded, watch, other);
  }

  Map<String, Object> parameters(String server) {
    return Map.of(
        "key", effect.getKey(),
        "user", UUID.fromString(effect.getUser()),
        "server", server,
        "form", effect.getForm(),
        "payload", effect.getPayload(),
        "value", UUID.fromString(effect.getValue()),
        "guarded", guarded,
        "way", way.name(),
        "millis", watch.elapsed().toMillis());
  }
}
