package io.github.grpcidempotency.micrometer.monitoring;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** The committed files for Grafana and Prometheus, and what they should be. */
final class MonitoringFiles {
  static final Path DASHBOARD = Path.of("grafana", "idempotency.json");
  static final Path ALERTS = Path.of("prometheus", "idempotency-alerts.yml");
  static final Path ALERT_TESTS = Path.of("prometheus", "idempotency-alerts-test.yml");

  private MonitoringFiles() {}

  /** Returns what the files should be, by their paths in this module. */
  static Map<Path, String> made() {
    Map<Path, String> files = new LinkedHashMap<>();
    files.put(DASHBOARD, GrafanaDashboard.json());
    files.put(ALERTS, PrometheusRules.yaml());
    files.put(ALERT_TESTS, PrometheusRuleTests.yaml());
    return files;
  }

  static String committed(Path file) {
    try {
      return Files.readString(file, UTF_8);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  static void write(Path file, String text) {
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
      Files.writeString(file, text, UTF_8);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
