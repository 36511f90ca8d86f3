package io.github.grpcidempotency.benchmarks.service;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.LongStream;

/**
 * The threads that a server runs its calls on: interceptors, handlers, driver. As many as there are
 * calls, as with gRPC's own executor; here it is known which they are. Thread-safe.
 */
final class ServerThreads implements AutoCloseable {
  private static final ThreadMXBean JVM = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);

  private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
  private final ExecutorService executor =
      Executors.newCachedThreadPool(
          task -> {
            Thread thread = new Thread(task, "benchmark-server");
            thread.setDaemon(true);
            threads.add(thread);
            return thread;
          });

  ExecutorService executor() {
    return executor;
  }

  /** Returns how many bytes those that live have allocated so far. */
  long allocatedBytes() {
    long[] ids = threads.stream().filter(Thread::isAlive).mapToLong(Thread::getId).toArray();
    return LongStream.of(JVM.getThreadAllocatedBytes(ids)).filter(bytes -> bytes > 0).sum();
  }

  @Override
  public void close() {
    executor.shutdown();
  }
}
