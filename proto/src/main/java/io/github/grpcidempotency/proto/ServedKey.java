package io.github.grpcidempotency.proto;

import io.grpc.Context;
import java.util.Optional;

/**
 * The key of the call that the current handler serves. It is part of the gRPC {@link Context}, so
 * that a client in the handler can refuse to pass the key on. Not for use by services. Thread-safe.
 */
public final class ServedKey {
  private static final Context.Key<String> KEY = Context.key("idempotency-served-key");

  private ServedKey() {}

  /** Returns a context with the key of a call, as the client has sent it. */
  public static Context in(Context context, String key) {
    return context.withValue(KEY, key);
  }

  /** Returns the key of the current call; empty outside of a call with a key. */
  public static Optional<String> current() {
    return Optional.ofNullable(KEY.get());
  }
}
