package io.github.grpcidempotency.thing;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Stops what a test has registered after the test, the newest first. After a test that has passed,
 * servers and channels may finish their calls: if one has not ended after ten seconds, a call
 * hangs, and the test fails. After a test that has failed, all are stopped by force at once.
 *
 * <p>Thread-safe.
 */
public final class GrpcCleanupExtension implements AfterEachCallback {
  private static final long LIMIT_SECONDS = 10;

  private final Deque<Resource> newestFirst = new ConcurrentLinkedDeque<>();

  private interface Resource {
    void stop(boolean gracefully) throws Exception;
  }

  public <T extends Server> T register(T server) {
    newestFirst.push(
        gracefully -> {
          boolean ended = !gracefully || server.shutdown().awaitTermination(LIMIT_SECONDS, SECONDS);
          server.shutdownNow();
          requireEnded(ended, server);
        });
    return server;
  }

  public <T extends ManagedChannel> T register(T channel) {
    newestFirst.push(
        gracefully -> {
          boolean ended =
              !gracefully || channel.shutdown().awaitTermination(LIMIT_SECONDS, SECONDS);
          channel.shutdownNow();
          requireEnded(ended, channel);
        });
    return channel;
  }

  /** Registers another resource, and returns it. */
  public <T extends AutoCloseable> T registerCloseable(T resource) {
    newestFirst.push(gracefully -> resource.close());
    return resource;
  }

  private static void requireEnded(boolean ended, Object resource) {
    if (!ended) {
      throw new IllegalStateException(
          "%s has not ended within %d seconds".formatted(resource, LIMIT_SECONDS));
    }
  }

  @Override
  public void afterEach(ExtensionContext context) {
    boolean passed = context.getExecutionException().isEmpty();
    List<Exception> failures = new ArrayList<>();
    for (Resource next = newestFirst.poll(); next != null; next = newestFirst.poll()) {
      try {
        next.stop(passed && failures.isEmpty());
      } catch (Exception failure) {
        failures.add(failure);
      }
    }
    if (passed && !failures.isEmpty()) {
      AssertionError failed = new AssertionError(failures.get(0).getMessage(), failures.get(0));
      failures.stream().skip(1).forEach(failed::addSuppressed);
      throw failed;
    }
  }
}
