package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.test.Program.PROMETHEUS;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.github.grpcidempotency.example.run.Database;
import io.github.grpcidempotency.example.run.MachineShop;
import io.github.grpcidempotency.example.service.Settings;
import io.github.grpcidempotency.example.service.organization.CloudProvider;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.test.NeedsProgram;
import io.github.grpcidempotency.test.RepositoryRoot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A real Prometheus scrapes a server of the example under load. */
@Tag("torture")
@NeedsProgram(PROMETHEUS)
class DashboardTest {
  private static final Path DASHBOARD =
      RepositoryRoot.resolve("extensions/micrometer/grafana/idempotency.json");
  private static final Path ALERTS =
      RepositoryRoot.resolve("extensions/micrometer/prometheus/idempotency-alerts.yml");

  /** A part of the statement that records the answer of a reserved call. */
  private static final String RECORDING = "SET response_bytes";

  @Test
  void everyQueryOfTheDashboardReturnsData(@TempDir Path directory) throws IOException {
    List<String> queries = queries();
    assertThat(queries).isNotEmpty();
    Database database = Databases.copy();
    MachineShop shop = new MachineShop();
    CloudProvider slow =
        (region, key) -> {
          LockSupport.parkNanos(Duration.ofMillis(300).toNanos()); // duplicates come meanwhile
          return shop.buy(region, key);
        };
    Settings settings = RunningExample.settings(RunningExample.secrets(), slow);
    try (FaultProxy proxy = FaultProxy.before(database.url());
        RunningExample example =
            RunningExample.start(Database.at(proxy.jdbcUrl()), shop, settings);
        Prometheus prometheus =
            Prometheus.start(directory, ALERTS, example.server().metricsPort());
        Traffic traffic = new Traffic(example.client())) {
      Instant start = Instant.now();
      traffic.start();
      await()
          .pollInterval(Duration.ofSeconds(1))
          .untilAsserted(
              () -> {
                proxy.disarm();
                proxy.cutBefore(RECORDING); // again: a rate needs a sample before
                assertThat(queries).allMatch(query -> prometheus.hasData(query, start));
              });
      await().untilAsserted(() -> assertThat(prometheus.brokenRules()).isEmpty());
    }
  }

  /** Returns what Grafana sends to Prometheus while everything is selected. */
  private static List<String> queries() throws IOException {
    JsonObject dashboard =
        JsonParser.parseString(Files.readString(DASHBOARD, UTF_8)).getAsJsonObject();
    return elements(dashboard, "panels")
        .filter(panel -> panel.has("targets"))
        .flatMap(panel -> elements(panel, "targets"))
        .map(target -> target.get("expr").getAsString())
        .map(query -> query.replace("$__rate_interval", "10s"))
        .map(query -> query.replaceAll("\\$(job|instance|procedure)", ".*"))
        .toList();
  }

  private static Stream<JsonObject> elements(JsonObject object, String name) {
    return StreamSupport.stream(object.getAsJsonArray(name).spliterator(), false)
        .map(JsonElement::getAsJsonObject);
  }
}
