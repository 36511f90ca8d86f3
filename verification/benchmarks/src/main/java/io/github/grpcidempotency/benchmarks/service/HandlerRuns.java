package io.github.grpcidempotency.benchmarks.service;

import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** How often slow handlers have run, by the name that they were asked to create. */
public final class HandlerRuns {
  private final Map<String, Integer> slow = new ConcurrentHashMap<>();

  /** Takes note of a run, and takes as long as the request says. */
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

  /** Returns how many names a slow handler has begun to create. */
  public int begun() {
    return slow.size();
  }

  /** Returns the number of runs of each name, and forgets them. */
  public Collection<Integer> take() {
    List<Integer> taken = List.copyOf(slow.values());
    slow.clear();
    return taken;
  }
}
