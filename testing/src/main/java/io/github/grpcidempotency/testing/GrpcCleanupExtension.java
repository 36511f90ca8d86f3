package io.github.grpcidempotency.testing;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Stops the servers and channels of a test after the test, as {@code GrpcCleanupRule} of
 * grpc-testing does for JUnit 4.
 *
 * <pre>{@code
 * @RegisterExtension final GrpcCleanupExtension grpc = new GrpcCleanupExtension();
 *
 * @Test
 * void aTest() throws IOException {
 *   Server server = grpc.register(serverBuilder.build().start());
 *   ManagedChannel channel = grpc.register(channelBuilder.build());
 * }
 * }</pre>
 *
 * <p>They are stopped in the reverse order of their registration. After a test that has passed,
 * they are shut down and may finish their calls. If a server or channel has not ended in time, for
 * example because a call hangs, it is stopped by force, and the test fails. After a test that has
 * failed, everything is stopped by force at once.
 *
 * <p>Thread-safe.
 */
public final class GrpcCleanupExtension implements AfterEachCallback {
  private static final Duration TEN_SECONDS = Duration.ofSeconds(10);

  private final Duration limit;
  private final Deque<Resource> newestFirst = new ArrayDeque<>();

  /** Creates an extension that waits ten seconds for all servers and channels to end. */
  public GrpcCleanupExtension() {
    this(TEN_SECONDS);
  }

  /**
   * Creates an extension.
   *
   * @param limit how long to wait for all servers and channels to end
   */
  GrpcCleanupExtension(Duration limit) {
    this.limit = limit;
  }

  /** Registers a server, and returns it. */
  public <T extends Server> T register(T server) {
    add(
        new Resource(
            "the server " + server,
            server::shutdown,
            nanos -> server.awaitTermination(nanos, NANOSECONDS),
            force -> {
              if (force) {
                server.shutdownNow();
              }
            }));
    return server;
  }

  /** Registers a channel, and returns it. */
  public <T extends ManagedChannel> T register(T channel) {
    add(
        new Resource(
            "the channel " + channel,
            channel::shutdown,
            nanos -> channel.awaitTermination(nanos, NANOSECONDS),
            force -> {
              if (force) {
                channel.shutdownNow();
              }
            }));
    return channel;
  }

  /**
   * Registers another resource, and returns it. It is closed after everything that was registered
   * later has ended, so register an {@code IdempotencyInterceptor} before its server.
   */
  public <T extends AutoCloseable> T registerCloseable(T resource) {
    add(new Resource("", () -> {}, nanos -> true, force -> resource.close()));
    return resource;
  }

  @Override
  public void afterEach(ExtensionContext context) throws Exception {
    List<Resource> resources = takeAll();
    boolean passed = context.getExecutionException().isEmpty();
    if (passed) {
      resources.forEach(resource -> resource.shutdown().run());
    }
    List<Exception> failures = end(resources, passed);
    if (passed && !failures.isEmpty()) {
      AssertionError failed = new AssertionError(failures.get(0).getMessage(), failures.get(0));
      failures.stream().skip(1).forEach(failed::addSuppressed);
      throw failed;
    }
  }

  private List<Exception> end(List<Resource> resources, boolean gracefully) {
    long deadline = System.nanoTime() + limit.toNanos();
    List<Exception> failures = new ArrayList<>();
    boolean force = !gracefully;
    for (Resource resource : resources) {
      try {
        if (!force && !resource.end().within(Math.max(0, deadline - System.nanoTime()))) {
          failures.add(new TimeoutException(resource.name() + " has not ended within " + limit));
          force = true;
        }
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        failures.add(interrupted);
        force = true;
      }
      try {
        resource.close().run(force);
      } catch (Exception failure) {
        failures.add(failure);
      }
    }
    return failures;
  }

  private synchronized void add(Resource resource) {
    newestFirst.push(resource);
  }

  private synchronized List<Resource> takeAll() {
    List<Resource> all = List.copyOf(newestFirst);
    newestFirst.clear();
    return all;
  }

  private interface AwaitEnd {
    boolean within(long nanos) throws InterruptedException;
  }

  private interface Close {
    void run(boolean force) throws Exception;
  }

  /** A resource of a test. */
  private record Resource(String name, Runnable shutdown, AwaitEnd end, Close close) {}
}
