package io.github.grpcidempotency.runtime;

import java.util.concurrent.ThreadFactory;

/** Threads that do not keep a JVM alive. */
final class DaemonThreads {
  private DaemonThreads() {}

  static ThreadFactory named(String name) {
    return task -> {
      Thread thread = new Thread(task, name);
      thread.setDaemon(true);
      return thread;
    };
  }
}
