package io.github.grpcidempotency.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.grpcidempotency.example.monitoring.Dashboard;
import io.github.grpcidempotency.example.monitoring.DashboardPicture;
import io.github.grpcidempotency.example.monitoring.Prometheus;
import io.github.grpcidempotency.example.monitoring.Prometheus.Point;
import io.github.grpcidempotency.example.run.database.EmbeddedDatabase;
import io.github.grpcidempotency.example.run.database.HostDatabase;
import io.github.grpcidempotency.example.run.database.Login;
import io.github.grpcidempotency.example.run.database.OwnDatabase;
import io.github.grpcidempotency.example.run.database.Roles;
import io.github.grpcidempotency.example.run.server.RunningServer;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.micrometer.MetricName;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A real Prometheus scrapes servers of the example under load. */
class DashboardTest {
  private static final Dashboard DASHBOARD =
      Dashboard.read(Path.of("..", "micrometer", "grafana", "idempotency.json"));
  private static final Path ALERTS =
      Path.of("..", "micrometer", "prometheus", "idempotency-alerts.yml");
  private static final Path PICTURE = Path.of("target", "dashboard.png");
  private static final String RATE_INTERVAL = "10s";

  @BeforeEach
  void needPrometheus() {
    assumeTrue(Prometheus.isInstalled(), "prometheus is not installed");
  }

  @Test
  void everyQueryOfTheDashboardReturnsData(@TempDir Path directory) {
    try (EmbeddedDatabase database = MigratedDatabase.start();
        FaultProxy proxy = FaultProxy.before(database.jdbcUrl());
        RunningServer server =
            RunningServer.start(
                0,
                RunningExample.sweepingOften(RunningExample.settings(database)),
                through(proxy));
        Prometheus prometheus =
            Prometheus.start(directory, "example", List.of(server.metricsPort()), List.of(ALERTS));
        TestClient client = new TestClient(server.port());
        Traffic traffic = new Traffic(client, client)) {
      Instant start = Instant.now();
      traffic.start();
      await()
          .atMost(Duration.ofMinutes(1))
          .pollInterval(Prometheus.INTERVAL)
          .untilAsserted(
              () -> {
                proxy.disarm();
                proxy.cutBefore(WatchedServers.RECORDING); // again: a rate needs a sample before
                assertThat(withoutData(prometheus, start)).isEmpty();
              });
      await().untilAsserted(() -> assertThat(prometheus.brokenRules()).isEmpty());
    }
  }

  /** The picture of the documentation is made here. */
  @Test
  @Tag("torture")
  void theDashboardShowsWhatHasGoneWrong(@TempDir Path directory) throws IOException {
    try (WatchedServers servers = WatchedServers.start();
        Prometheus prometheus =
            Prometheus.start(directory, "example", servers.metricsPorts(), List.of(ALERTS));
        Traffic traffic = servers.traffic()) {
      Instant start = Instant.now();
      traffic.start();
      at(start, 20);
      servers.loseARecording();
      at(start, 35);
      traffic.leaveToAnotherServer(servers::killTheDoomed);
      servers.startTheDoomed();
      at(start, 65);
      servers.loseTheDatabaseFor(Duration.ofSeconds(2));
      at(start, 85);
      servers.loseTheDatabaseFor(Duration.ofSeconds(8));
      at(start, 120);
      assertThat(withoutData(prometheus, start)).isEmpty();
      assertThat(prometheus.brokenRules()).isEmpty();
      for (MetricName rare : List.of(MetricName.TAKEOVERS, MetricName.RENEWAL_FAILURES)) {
        assertThat(most(prometheus, "sum(rate(%s[10s]))".formatted(rare.prometheus()), start))
            .as(rare.meter())
            .isPositive();
      }
      assertThat(
              most(
                  prometheus,
                  "sum(%s)".formatted(MetricName.RECORDINGS_WAITING.prometheus()),
                  start))
          .isPositive();
      new DashboardPicture(prometheus, RATE_INTERVAL, start, Instant.now())
          .write(DASHBOARD, PICTURE);
      assertThat(PICTURE).isNotEmptyFile();
    }
  }

  private static HostDatabase through(FaultProxy proxy) {
    return OwnDatabase.connect(
        proxy.jdbcUrl(),
        new Login(Roles.APP, ""),
        new Login(Roles.WORKER, ""),
        new Login(Roles.OWNER, ""));
  }

  private static void at(Instant start, int second) {
    await()
        .atMost(Duration.ofMinutes(3))
        .until(() -> Duration.between(start, Instant.now()).toSeconds() >= second);
  }

  private static double most(Prometheus prometheus, String expression, Instant start) {
    return prometheus.query(expression, start, Instant.now(), Prometheus.INTERVAL).stream()
        .flatMap(series -> series.points().stream())
        .mapToDouble(Point::value)
        .max()
        .orElse(0);
  }

  private static List<String> withoutData(Prometheus prometheus, Instant start) {
    Instant now = Instant.now();
    return DASHBOARD.rows().stream()
        .flatMap(row -> row.panels().stream())
        .flatMap(panel -> panel.queries().stream())
        .map(query -> query.expression(RATE_INTERVAL))
        .filter(
            expression ->
                prometheus.query(expression, start, now, Prometheus.INTERVAL).stream()
                    .allMatch(series -> series.points().isEmpty()))
        .toList();
  }
}
