package io.github.grpcidempotency.example.demo;

import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** Daemon threads, one for each task. */
final class Threads {
  private Threads() {}

  static void start(Runnable task) {
    Thread thread = new Thread(task, "demo");
    thread.setDaemon(true);
    thread.start();
  }

  static <T> CompletableFuture<T> supply(Supplier<T> task) {
    return CompletableFuture.supplyAsync(task, Threads::start);
  }
}
