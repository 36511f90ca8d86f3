package io.github.grpcidempotency.benchmarks.service;

import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Counts the runs of slow handlers, by the name in the request. */
public final class HandlerRuns {
  private final Map<String, Integer> slow = new ConcurrentHashMap<>();

  /** Counts a run, and takes the time that the request asks for. */
  void begin(CreateProjectRequest request) {
    if (request.getHandlerMillis() > 0) {
      slow.merge(request.getName(), 1, Integer::sum);
      try {
        Thread.sleep(request.getHandlerMillis());
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("the server is stopping", stopped);
      }
    }
  }

  /** Returns for how many names a slow handler has started. */
  public int begun() {
    return slow.size();
  }

  /** Returns the number of runs for each name, and resets the counts. */
  public Collection<Integer> take() {
    List<Integer> taken = List.copyOf(slow.values());
    slow.clear();
    return taken;
  }
}
