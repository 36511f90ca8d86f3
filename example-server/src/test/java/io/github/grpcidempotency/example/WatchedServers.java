package io.github.grpcidempotency.example;

import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.example.run.database.EmbeddedDatabase;
import io.github.grpcidempotency.example.run.settings.DataFiles;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.fault.FaultProxy.Trap;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Two servers on one database, which serve their metrics. One can be killed; the other loses its
 * database.
 */
final class WatchedServers implements AutoCloseable {
  private static final String LEASE = "3s";
  private static final String RETENTION = "20s";

  /** A part of the statement that records the answer of a reserved call. */
  static final String RECORDING = "SET response_bytes";

  private final EmbeddedDatabase database = MigratedDatabase.start();
  private final Path keyset = new DataFiles(database.directory()).keyset();
  private final FaultProxy proxy = FaultProxy.before(asApplication(database.jdbcUrl()));
  private final Place steadyPlace = new Place(proxy.jdbcUrl(), "10s");
  private final Place doomedPlace = new Place(asApplication(database.jdbcUrl()), "1h");
  private final ProgramProcess steady = start(steadyPlace);
  private ProgramProcess doomed = start(doomedPlace);
  private final List<TestClient> clients = new ArrayList<>();

  /** Where a server listens and finds its database. */
  private record Place(String jdbcUrl, String sweepInterval, int port, int metricsPort) {
    Place(String jdbcUrl, String sweepInterval) {
      this(jdbcUrl, sweepInterval, freePort(), freePort());
    }
  }

  static WatchedServers start() {
    WatchedServers servers = new WatchedServers();
    servers.steady.awaitPort();
    servers.doomed.awaitPort();
    return servers;
  }

  List<Integer> metricsPorts() {
    return List.of(steadyPlace.metricsPort(), doomedPlace.metricsPort());
  }

  Traffic traffic() {
    clients.add(new TestClient(steadyPlace.port()));
    clients.add(new TestClient(doomedPlace.port()));
    return new Traffic(clients.get(0), clients.get(1));
  }

  /** Cuts the steady server's connection when it next records the answer of a call. */
  void loseARecording() {
    Trap trap = proxy.cutBefore(RECORDING);
    await().atMost(Duration.ofSeconds(20)).until(trap::hasSprung);
  }

  /** Cuts the steady server off from its database, just when it is about to record an answer. */
  void loseTheDatabaseFor(Duration length) {
    Trap trap = proxy.cutBefore(RECORDING).andStayDown();
    await().atMost(Duration.ofSeconds(20)).until(trap::hasSprung);
    await().pollDelay(length).atMost(length.plusSeconds(10)).until(() -> true);
    proxy.restore();
  }

  void killTheDoomed() {
    doomed.kill();
  }

  void startTheDoomed() {
    doomed = start(doomedPlace);
    doomed.awaitPort();
  }

  private ProgramProcess start(Place place) {
    return ProgramProcess.start(
        "serve",
        "--port",
        String.valueOf(place.port()),
        "--metrics-port",
        String.valueOf(place.metricsPort()),
        "--jdbc-url",
        place.jdbcUrl(),
        "--no-migrate",
        "--keyset",
        keyset.toString(),
        "--lease",
        LEASE,
        "--ttl",
        RETENTION,
        "--sweep-interval",
        place.sweepInterval(),
        "--provider",
        TestProvider.target());
  }

  private static String asApplication(String jdbcUrl) {
    return jdbcUrl.replace("user=postgres", "user=example_app");
  }

  private static int freePort() {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  @Override
  public void close() {
    clients.forEach(TestClient::close);
    doomed.close();
    steady.close();
    proxy.close();
    database.close();
  }
}
