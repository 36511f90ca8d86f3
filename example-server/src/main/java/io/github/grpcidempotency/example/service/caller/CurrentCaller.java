package io.github.grpcidempotency.example.service.caller;

import io.github.grpcidempotency.key.Caller;
import io.grpc.Context;
import java.util.Optional;

/**
 * The caller of the current gRPC call, which {@link BearerStandIn} has put into the {@link
 * Context}.
 */
public final class CurrentCaller {
  static final Context.Key<Caller> KEY = Context.key("caller");

  private CurrentCaller() {}

  /** Returns the caller, if the current call has one. */
  public static Optional<Caller> find() {
    return Optional.ofNullable(KEY.get());
  }

  /**
   * Returns the caller of a call that must have one.
   *
   * @throws IllegalStateException outside a call, or in an unauthenticated call
   */
  public static Caller get() {
    return find().orElseThrow(() -> new IllegalStateException("no caller in this context"));
  }
}
