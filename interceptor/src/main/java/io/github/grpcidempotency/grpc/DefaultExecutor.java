package io.github.grpcidempotency.grpc;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

/** The default for where waiting calls go on, like gRPC's own: threads as needed, idle ones end. */
final class DefaultExecutor {
  private static final Executor SHARED =
      Executors.newCachedThreadPool(
          new ThreadFactoryBuilder().setDaemon(true).setNameFormat("idempotency-call-%d").build());

  private DefaultExecutor() {}

  static Executor shared() {
    return SHARED;
  }
}
