package io.github.grpcidempotency.micrometer;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.github.grpcidempotency.micrometer.MetricName.Kind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** The committed files for Grafana and Prometheus. */
final class MonitoringFiles {
  static final Path DASHBOARD = Path.of("grafana", "idempotency.json");
  static final Path ALERTS = Path.of("prometheus", "idempotency-alerts.yml");
  static final List<Path> ALERT_TESTS =
      List.of(
          Path.of("prometheus", "idempotency-alerts-test.yml"),
          Path.of("prometheus", "idempotency-symptoms-test.yml"));

  /** An exported name, but no name of a recording rule, which has a colon before it. */
  private static final Pattern METRIC = Pattern.compile("(?<![:\\w])idempotency_[a-z_]+");

  private MonitoringFiles() {}

  static String read(Path file) {
    try {
      return Files.readString(file, UTF_8);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Returns the cases of all alerts. */
  static String alertTests() {
    return ALERT_TESTS.stream().map(MonitoringFiles::read).collect(Collectors.joining());
  }

  /** Returns what a pattern's group matches in a text, in the order of the text. */
  static List<String> found(Pattern pattern, int group, String text) {
    return pattern.matcher(text).results().map(match -> match.group(group)).toList();
  }

  static List<String> metrics(String text) {
    return found(METRIC, 0, text);
  }

  /** Returns the names of a metric's series in Prometheus. */
  static List<String> series(MetricName metric) {
    return metric.kind() == Kind.TIMER
        ? Stream.of("_count", "_sum", "_max", "_bucket")
            .map(part -> metric.prometheus() + part)
            .toList()
        : List.of(metric.prometheus());
  }

  /** Returns the expressions of the dashboard's panels. */
  static List<String> queries() {
    return elements(JsonParser.parseString(read(DASHBOARD)).getAsJsonObject(), "panels")
        .filter(panel -> panel.has("targets"))
        .flatMap(panel -> elements(panel, "targets"))
        .map(target -> target.get("expr").getAsString())
        .toList();
  }

  private static Stream<JsonObject> elements(JsonObject object, String name) {
    return StreamSupport.stream(object.getAsJsonArray(name).spliterator(), false)
        .map(JsonElement::getAsJsonObject);
  }
}
