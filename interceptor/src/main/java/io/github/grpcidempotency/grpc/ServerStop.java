package io.github.grpcidempotency.grpc;

import io.github.grpcidempotency.internal.engine.Drain;
import io.grpc.Server;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Stops servers: {@link IdempotencyInterceptor#drain}.
 *
 * @param drain the calls of the servers; empty without a store
 */
record ServerStop(Optional<Drain> drain, List<Server> servers) {
  /** The time for sending the last answers and closing the transports. */
  private static final Duration TO_SEND = Duration.ofSeconds(1);

  void within(Duration grace) {
    servers.forEach(Server::shutdown);
    try {
      drain.ifPresent(Drain::begin);
      if (!haveTerminated(grace)) {
        drain.ifPresent(Drain::cutOff);
        haveTerminated(TO_SEND);
        servers.forEach(Server::shutdownNow);
        haveTerminated(TO_SEND);
      }
    } catch (InterruptedException interrupted) {
      drain.ifPresent(Drain::cutOff);
      servers.forEach(Server::shutdownNow);
      Thread.currentThread().interrupt();
    } finally {
      drain.ifPresent(Drain::end);
    }
  }

  private boolean haveTerminated(Duration limit) throws InterruptedException {
    long end = System.nanoTime() + limit.toNanos();
    boolean all = true;
    for (Server server : servers) {
      all &= server.awaitTermination(end - System.nanoTime(), TimeUnit.NANOSECONDS);
    }
    return all;
  }
}
