package io.github.grpcidempotency.example.monitoring;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.File;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * A real Prometheus that scrapes servers of this machine every second. It shares nothing with a
 * Prometheus that the machine may run.
 */
public final class Prometheus implements AutoCloseable {
  /** How often it scrapes, and evaluates its rules. */
  public static final Duration INTERVAL = Duration.ofSeconds(1);

  private static final String PROGRAM = "prometheus";

  private final HttpClient http = HttpClient.newHttpClient();
  private final URI address;
  private final Path log;
  private final Process process;

  private Prometheus(URI address, Path log, Process process) {
    this.address = address;
    this.log = log;
    this.process = process;
  }

  /** Returns whether there is a Prometheus on this machine. */
  public static boolean isInstalled() {
    return program().isPresent();
  }

  /**
   * Starts a Prometheus.
   *
   * @param directory an empty directory for its files
   * @param job what it calls the servers
   * @param ports where they serve their metrics
   * @param rules files of rules
   */
  public static Prometheus start(
      Path directory, String job, List<Integer> ports, List<Path> rules) {
    try {
      int port = freePort();
      Path settings =
          Files.writeString(
              directory.resolve("prometheus.yml"), settings(job, ports, rules), UTF_8);
      Path log = directory.resolve("prometheus.log");
      Process process =
          new ProcessBuilder(
                  program().orElseThrow().toString(),
                  "--config.file=" + settings,
                  "--storage.tsdb.path=" + directory.resolve("data"),
                  "--web.listen-address=127.0.0.1:" + port,
                  "--log.level=warn")
              .redirectErrorStream(true)
              .redirectOutput(log.toFile())
              .start();
      Prometheus prometheus = new Prometheus(URI.create("http://127.0.0.1:" + port), log, process);
      await(PROGRAM).until(prometheus::isReady);
      return prometheus;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static String settings(String job, List<Integer> ports, List<Path> rules) {
    return """
    global:
      scrape_interval: %1$ds
      scrape_timeout: %1$ds
      evaluation_interval: %1$ds
    rule_files: [%2$s]
    scrape_configs:
      - job_name: %3$s
        static_configs:
          - targets: [%4$s]
    """
        .formatted(
            INTERVAL.toSeconds(),
            rules.stream()
                .map(file -> "'" + file.toAbsolutePath().normalize() + "'")
                .collect(Collectors.joining(", ")),
            job,
            ports.stream()
                .map(port -> "'127.0.0.1:" + port + "'")
                .collect(Collectors.joining(", ")));
  }

  /**
   * Series of a range query.
   *
   * @param labels the name of the metric, if it has one, is not among them
   * @param points in order of time; without those that are not a number
   */
  public record Series(Map<String, String> labels, List<Point> points) {}

  /** A value at a time. */
  public record Point(Instant at, double value) {}

  /**
   * Evaluates an expression at several times.
   *
   * @throws IllegalArgumentException if Prometheus refuses it
   */
  public List<Series> query(String expression, Instant from, Instant to, Duration step) {
    JsonObject data =
        get("/api/v1/query_range?query=%s&start=%d&end=%d&step=%d"
                .formatted(
                    URLEncoder.encode(expression, UTF_8),
                    from.getEpochSecond(),
                    to.getEpochSecond(),
                    step.toSeconds()))
            .getAsJsonObject("data");
    return elements(data.getAsJsonArray("result")).map(Prometheus::series).toList();
  }

  /** Returns what is wrong with the rules that it was given, by rule; empty if all is well. */
  public Map<String, String> brokenRules() {
    Map<String, String> broken = new TreeMap<>();
    JsonArray groups = get("/api/v1/rules").getAsJsonObject("data").getAsJsonArray("groups");
    elements(groups)
        .flatMap(group -> elements(group.getAsJsonObject().getAsJsonArray("rules")))
        .map(JsonElement::getAsJsonObject)
        .filter(rule -> !rule.get("health").getAsString().equals("ok"))
        .forEach(rule -> broken.put(rule.get("name").getAsString(), rule.toString()));
    return broken;
  }

  private JsonObject get(String path) {
    HttpRequest request = HttpRequest.newBuilder(address.resolve(path)).build();
    try {
      HttpResponse<String> response = http.send(request, BodyHandlers.ofString(UTF_8));
      if (response.statusCode() != 200) {
        throw new IllegalArgumentException(response.body());
      }
      return JsonParser.parseString(response.body()).getAsJsonObject();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } catch (InterruptedException failure) {
      throw new IllegalStateException(failure);
    }
  }

  private static Series series(JsonElement json) {
    Map<String, String> labels = new TreeMap<>();
    json.getAsJsonObject()
        .getAsJsonObject("metric")
        .entrySet()
        .forEach(label -> labels.put(label.getKey(), label.getValue().getAsString()));
    labels.remove("__name__");
    List<Point> points = new ArrayList<>();
    elements(json.getAsJsonObject().getAsJsonArray("values"))
        .map(JsonElement::getAsJsonArray)
        .forEach(
            pair -> {
              double value =
                  Double.parseDouble(pair.get(1).getAsString().replace("Inf", "Infinity"));
              if (Double.isFinite(value)) {
                points.add(
                    new Point(
                        Instant.ofEpochMilli((long) (pair.get(0).getAsDouble() * 1000)), value));
              }
            });
    return new Series(labels, List.copyOf(points));
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

  private static Optional<Path> program() {
    String path = Optional.ofNullable(System.getenv("PATH")).orElse("");
    return Stream.of(path.split(File.pathSeparator))
        .map(directory -> Path.of(directory, PROGRAM))
        .filter(Files::isExecutable)
        .findFirst();
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
