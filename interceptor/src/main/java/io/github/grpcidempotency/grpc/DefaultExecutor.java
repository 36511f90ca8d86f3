package io.github.grpcidempotency.grpc;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

/**
 * The default executor for resumed calls. Like gRPC's default executor, it starts threads as needed
 * and ends idle threads.
 */
final class DefaultExecutor {
  private static final Executor SHARED =
      Executors.newCachedThreadPool(
          new ThreadFactoryBuilder().setDaemon(true).setNameFormat("idempotency-call-%d").build());

  private DefaultExecutor() {}

  static Executor shared() {
    return SHARED;
  }
}
