package io.github.grpcidempotency.torture;

import com.google.common.base.Stopwatch;
import io.github.grpcidempotency.grpc.CurrentOperation;
import io.github.grpcidempotency.grpc.spi.CurrentHandler;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.torture.Operation.Scope;
import io.github.grpcidempotency.torture.v1.Effect;
import io.github.grpcidempotency.torture.v1.EffectRequest;
import java.util.Map;
import java.util.UUID;

/** One run of a handler: what it must write, whether it has a claim, when it began, and its way. */
record EffectRun(Effect effect, boolean guarded, Stopwatch watch, Way way) {
  private static final String INSERT =
      """
      INSERT INTO torture.effects (key, user_id, server, form, payload, value, guarded, way, began)
      VALUES (:key, :user, :server, :form, :payload, :value, :guarded, :way,
              clock_timestamp() - :millis * interval '1 millisecond')
      """;

  /**
   * Inserts a unique name as well. Waits for a twin that writes the same name, but not for long,
   * because the twin's server may stand still.
   */
  private static final String INSERT_WITH_NAME =
      "WITH effect AS ("
          + INSERT
          + """
            RETURNING key, user_id)
          INSERT INTO torture.names (key, user_id)
          SELECT key, user_id FROM effect, set_config('lock_timeout', '500', true)
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
    boolean atCommit = CurrentHandler.claim().filter(Claim::isOptimistic).isPresent();
    if (atCommit) {
      TortureServer.RAN_AT_COMMIT.get().set(true);
    }
    return new EffectRun(
        effect,
        CurrentOperation.operationId().isPresent(),
        Stopwatch.createStarted(),
        atCommit ? Way.AT_COMMIT : Way.PLAIN);
  }

  Form form() {
    return Form.valueOf(effect.getForm());
  }

  /** Returns a run that goes another way if it is claimed at its commit. */
  EffectRun by(Way other) {
    return way.isAtCommit() ? new EffectRun(effect, guarded, watch, other) : this;
  }

  /** Returns what writes it, with {@link #parameters}. */
  String insert() {
    return way == Way.AT_COMMIT_WITH_NAME ? INSERT_WITH_NAME : INSERT;
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
