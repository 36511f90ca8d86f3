package io.github.grpcidempotency.postgres.internal.database;

import static java.util.Objects.requireNonNull;

import com.google.common.base.Throwables;
import io.github.grpcidempotency.store.support.DaemonThreads;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/**
 * A thread without a transaction of the host. Some pools return the connection of the thread's
 * transaction for every request on that thread. On such a thread, the host's transaction would
 * include the store's own statements.
 */
final class OwnThread {
  private static final ExecutorService THREADS =
      Executors.newCachedThreadPool(DaemonThreads.named("idempotency-outside-transaction"));

  private OwnThread() {}

  /** Runs work on another thread, and waits for it, even if the current thread is interrupted. */
  static <T> T call(Supplier<T> work) {
    try {
      return CompletableFuture.supplyAsync(work, THREADS).join();
    } catch (CompletionException failure) {
      Throwables.throwIfUnchecked(requireNonNull(failure.getCause()));
      throw failure;
    }
  }
}
