package io.github.grpcidempotency.example;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toSet;
import static org.awaitility.Awaitility.await;

import com.google.common.collect.ListMultimap;
import com.google.common.collect.MultimapBuilder;
import com.google.common.collect.Range;
import com.google.common.collect.RangeSet;
import com.google.common.collect.TreeRangeSet;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.github.grpcidempotency.test.Program;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * A real Prometheus that scrapes servers of this machine, with fast rules every second. It shares
 * nothing with a Prometheus that the machine may run.
 */
final class Prometheus implements AutoCloseable {
  private final HttpClient http = HttpClient.newHttpClient();
  private final URI address;
  private final Path log;
  private final Process process;

  private Prometheus(URI address, Path log, Process process) {
    this.address = address;
    this.log = log;
    this.process = process;
  }

  /**
   * Starts a Prometheus.
   *
   * @param directory an empty directory for its files
   * @param rules a file of rules
   * @param metricsPorts where servers serve their metrics
   */
  static Prometheus start(Path directory, Path rules, Integer... metricsPorts) {
    List<String> targets = Stream.of(metricsPorts).map(port -> "'127.0.0.1:" + port + "'").toList();
    String settings =
        """
        global:
          scrape_interval: %1$ds
          scrape_timeout: 1s
          evaluation_interval: 1s
        rule_files: ['%2$s']
        scrape_configs:
          - job_name: example
            static_configs:
              - targets: %3$s
        """
            .formatted(
                Math.max(1, 30 / Drill.TIMES_AS_FAST), rules.toAbsolutePath().normalize(), targets);
    try {
      int port = freePort();
      Path log = directory.resolve("prometheus.log");
      Process process =
          Program.PROMETHEUS
              .process(
                  "--config.file="
                      + Files.writeString(directory.resolve("prometheus.yml"), settings, UTF_8),
                  "--storage.tsdb.path=" + directory.resolve("data"),
                  "--web.listen-address=127.0.0.1:" + port,
                  "--log.level=warn")
              .redirectErrorStream(true)
              .redirectOutput(log.toFile())
              .start();
      Prometheus prometheus = new Prometheus(URI.create("http://127.0.0.1:" + port), log, process);
      await("prometheus").atMost(Duration.ofMinutes(2)).until(prometheus::isReady);
      return prometheus;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /**
   * Returns whether an expression has had a value, which is a number, since a time.
   *
   * @throws IllegalArgumentException if Prometheus refuses the expression
   */
  boolean hasData(String expression, Instant since) {
    return elements(range(expression, since).getAsJsonArray("result"))
        .flatMap(series -> elements(series.getAsJsonObject().getAsJsonArray("values")))
        .anyMatch(point -> !point.getAsJsonArray().get(1).getAsString().equals("NaN"));
  }

  /** Returns the names of the alerts that fire, each with its cause if it has one. */
  Set<String> firing() {
    return elements(get("/api/v1/alerts").getAsJsonArray("alerts"))
        .map(JsonElement::getAsJsonObject)
        .filter(alert -> alert.get("state").getAsString().equals("firing"))
        .map(alert -> name(alert.getAsJsonObject("labels")))
        .collect(toSet());
  }

  /** Returns when each alert has fired since a time, by its name; one may fire for many things. */
  ListMultimap<String, RangeSet<Instant>> fired(Instant since) {
    ListMultimap<String, RangeSet<Instant>> fired =
        MultimapBuilder.treeKeys().arrayListValues().build();
    elements(range("ALERTS{alertstate='firing'}", since).getAsJsonArray("result"))
        .map(JsonElement::getAsJsonObject)
        .forEach(series -> fired.put(name(series.getAsJsonObject("metric")), times(series)));
    return fired;
  }

  private static RangeSet<Instant> times(JsonObject series) {
    RangeSet<Instant> times = TreeRangeSet.create();
    elements(series.getAsJsonArray("values"))
        .map(point -> Instant.ofEpochSecond(point.getAsJsonArray().get(0).getAsLong()))
        .forEach(at -> times.add(Range.closedOpen(at, at.plusSeconds(1))));
    return times;
  }

  private static String name(JsonObject labels) {
    return Stream.of("alertname", "detail", "cause")
        .filter(labels::has)
        .map(label -> labels.get(label).getAsString())
        .collect(joining(" "));
  }

  /** Returns the rules that Prometheus cannot evaluate. */
  Stream<String> brokenRules() {
    return elements(get("/api/v1/rules").getAsJsonArray("groups"))
        .flatMap(group -> elements(group.getAsJsonObject().getAsJsonArray("rules")))
        .filter(rule -> !rule.getAsJsonObject().get("health").getAsString().equals("ok"))
        .map(JsonElement::toString);
  }

  private JsonObject range(String expression, Instant since) {
    return get(
        "/api/v1/query_range?query=%s&start=%d&end=%d&step=1"
            .formatted(
                URLEncoder.encode(expression, UTF_8),
                since.getEpochSecond(),
                Instant.now().getEpochSecond()));
  }

  private JsonObject get(String path) {
    HttpRequest request = HttpRequest.newBuilder(address.resolve(path)).build();
    try {
      HttpResponse<String> response = http.send(request, BodyHandlers.ofString(UTF_8));
      if (response.statusCode() != 200) {
        throw new IllegalArgumentException(response.body());
      }
      return JsonParser.parseString(response.body()).getAsJsonObject().getAsJsonObject("data");
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } catch (InterruptedException failure) {
      throw new IllegalStateException(failure);
    }
  }

  private static Stream<JsonElement> elements(JsonArray array) {
    return StreamSupport.stream(array.spliterator(), false);
  }

  private boolean isReady() throws IOException, InterruptedException {
    if (!process.isAlive()) {
      throw new IllegalStateException("Prometheus has ended: " + Files.readString(log));
    }
    try {
      return http.send(
                  HttpRequest.newBuilder(address.resolve("/-/ready")).build(),
                  BodyHandlers.discarding())
              .statusCode()
          == 200;
    } catch (IOException notYet) {
      return false;
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
  }
}
