package io.github.grpcidempotency.example;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.toSet;
import static org.awaitility.Awaitility.await;

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
import java.time.Instant;
import java.util.Set;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * A real Prometheus that scrapes a server of this machine every second. It shares nothing with a
 * Prometheus that the machine may run.
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
   * @param metricsPort where the server serves its metrics
   * @param rules a file of rules
   */
  static Prometheus start(Path directory, int metricsPort, Path rules) {
    String settings =
        """
        global:
          scrape_interval: 1s
          scrape_timeout: 1s
          evaluation_interval: 1s
        rule_files: ['%s']
        scrape_configs:
          - job_name: example
            static_configs:
              - targets: ['127.0.0.1:%d']
        """
            .formatted(rules.toAbsolutePath().normalize(), metricsPort);
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
      await("prometheus").until(prometheus::isReady);
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
    String path =
        "/api/v1/query_range?query=%s&start=%d&end=%d&step=1"
            .formatted(
                URLEncoder.encode(expression, UTF_8),
                since.getEpochSecond(),
                Instant.now().getEpochSecond());
    return elements(get(path).getAsJsonArray("result"))
        .flatMap(series -> elements(series.getAsJsonObject().getAsJsonArray("values")))
        .anyMatch(point -> !point.getAsJsonArray().get(1).getAsString().equals("NaN"));
  }

  /**
   * Returns the names of the alerts that fire, each with its label {@code detail} if it has one.
   */
  Set<String> firing() {
    return elements(get("/api/v1/alerts").getAsJsonArray("alerts"))
        .map(JsonElement::getAsJsonObject)
        .filter(alert -> alert.get("state").getAsString().equals("firing"))
        .map(alert -> alert.getAsJsonObject("labels"))
        .map(
            labels ->
                labels.get("alertname").getAsString()
                    + (labels.has("detail") ? " " + labels.get("detail").getAsString() : ""))
        .collect(toSet());
  }

  /** Returns the rules that Prometheus cannot evaluate. */
  Stream<String> brokenRules() {
    return elements(get("/api/v1/rules").getAsJsonArray("groups"))
        .flatMap(group -> elements(group.getAsJsonObject().getAsJsonArray("rules")))
        .filter(rule -> !rule.getAsJsonObject().get("health").getAsString().equals("ok"))
        .map(JsonElement::toString);
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
