package io.github.grpcidempotency.example;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.github.f4b6a3.uuid.UuidCreator;
import com.google.protobuf.ByteString;
import io.github.grpcidempotency.example.run.Database;
import io.github.grpcidempotency.example.run.MachineShop;
import io.github.grpcidempotency.example.run.RunningServer;
import io.github.grpcidempotency.example.service.Settings;
import io.github.grpcidempotency.example.service.background.Repeating;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.fault.ServerProcess;
import io.github.grpcidempotency.procedure.ResponseProtection;
import io.github.grpcidempotency.test.RepositoryRoot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A server with clients, its PostgreSQL, and a Prometheus with the project's rules: where an {@link
 * Incident} happens. Two minutes of the rules are four seconds here, and the large limits of the
 * rules are as many times lower.
 */
final class Drill implements AutoCloseable {
  static final int TIMES_AS_FAST = Integer.getInteger("drill.times", 30);
  static final Duration PATIENCE = Duration.ofHours(5).dividedBy(TIMES_AS_FAST);

  static final Duration LEASE = Duration.ofSeconds(30);

  private static final Path ALERTS =
      RepositoryRoot.resolve("extensions/micrometer/prometheus/idempotency-alerts.yml");
  private static final String HISTORY =
      "increase(idempotency_sweeps_seconds_count[5m]) > 0 and count_over_time(up[5m]) > 2";
  private static final String RESERVED =
      "SELECT FROM idempotency.idempotency_keys WHERE idempotency_key = '%s'";
  private static final Pattern DURATION = Pattern.compile("(?<=[\\[: ])(\\d+)([mhd])\\b");
  private static final Pattern LIMIT = Pattern.compile("(?<=> )\\d{3,}$", Pattern.MULTILINE);

  final RestartablePostgres postgres;
  final FaultProxy network;
  final SwitchableProtection keyset = new SwitchableProtection();

  /** The key of a call whose server is killed. */
  private final UUID abandoned = UuidCreator.getTimeOrderedEpoch();

  private final Path files;
  private final MachineShop shop = new MachineShop();

  /** While it is not open, calls that buy a machine in one of the many regions keep running. */
  private volatile CountDownLatch sales = new CountDownLatch(0);

  private final List<Connection> forgotten = new ArrayList<>();

  private RunningExample example;
  private Traffic traffic;
  private Optional<OtherServer> other = Optional.empty();
  private Optional<Prometheus> prometheus = Optional.empty();
  private Repeating repeated = Repeating.start("nothing", Duration.ofDays(1), () -> {});
  private Instant begun = Instant.now();

  /** The keyset of a server that can be exchanged while the server runs. */
  static final class SwitchableProtection implements ResponseProtection {
    private final ResponseProtection right = RunningExample.secrets();
    private volatile ResponseProtection current = right;

    void beWrong() {
      current = RunningExample.secrets();
    }

    void beRight() {
      current = right;
    }

    @Override
    public ByteString seal(ByteString response, ByteString context) {
      return current.seal(response, context);
    }

    @Override
    public ByteString open(ByteString stored, ByteString context) {
      return current.open(stored, context);
    }
  }

  /**
   * Starts everything.
   *
   * @param files an empty directory
   */
  Drill(Path files) throws IOException {
    this.files = files;
    this.postgres = RestartablePostgres.start(files.resolve("postgres"));
    this.network = FaultProxy.before(postgres.database().url());
    startServer(url(), LEASE, 0);
  }

  private void startServer(String url, Duration lease, int metricsPort) {
    Settings some = RunningExample.settings(keyset, this::buy);
    Settings settings =
        new Settings(
            lease,
            some.outboxDelay(),
            some.sweepInterval(),
            some.figuresInterval(),
            some.grace(),
            some.secrets(),
            some.logSecret(),
            some.cloud());
    Database database = Database.at(url);
    RunningServer server = RunningServer.start(0, metricsPort, settings, database);
    example = new RunningExample(database, shop, server, new TestClient(server.port()));
    traffic = new Traffic(example.client());
    traffic.start();
    await("traffic").atMost(PATIENCE).until(() -> traffic.answered() > 20);
  }

  /** Lets a new Prometheus watch the servers, and waits until it has seen them at work. */
  void watch() {
    forgetHistory();
    await("history")
        .atMost(PATIENCE)
        .until(() -> prometheus().hasData(HISTORY, begun) && prometheus().firing().isEmpty());
    begin();
  }

  /** Replaces Prometheus by one that has seen nothing yet. */
  void forgetHistory() {
    prometheus.ifPresent(Prometheus::close);
    Integer[] metricsPorts =
        Stream.concat(
                Stream.of(example.server().metricsPort()),
                other.map(OtherServer::metricsPort).stream())
            .toArray(Integer[]::new);
    try {
      prometheus =
          Optional.of(
              Prometheus.start(
                  Files.createTempDirectory(files, "prometheus"),
                  Files.writeString(files.resolve("rules.yml"), quickened(), UTF_8),
                  metricsPorts));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    await("rules")
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(prometheus().brokenRules()).isEmpty());
    begin();
  }

  private String buy(String region, String key) {
    if (region.startsWith("moon-")) {
      try {
        sales.await();
      } catch (InterruptedException stopped) {
        throw new IllegalStateException(stopped);
      }
    }
    return shop.buy(region, key);
  }

  private static String quickened() throws IOException {
    String rules = Files.readString(ALERTS, UTF_8);
    String lower =
        LIMIT
            .matcher(rules)
            .replaceAll(limit -> "" + Integer.parseInt(limit.group()) / TIMES_AS_FAST);
    return DURATION.matcher(lower).replaceAll(Drill::quickened);
  }

  private static String quickened(MatchResult duration) {
    long seconds =
        Long.parseLong(duration.group(1))
            * switch (duration.group(2)) {
              case "m" -> TimeUnit.MINUTES.toSeconds(1);
              case "h" -> TimeUnit.HOURS.toSeconds(1);
              default -> TimeUnit.DAYS.toSeconds(1);
            };
    return seconds / TIMES_AS_FAST + "s";
  }

  /** Lets the incident begin now. */
  void begin() {
    begun = Instant.now();
  }

  Instant begun() {
    return begun;
  }

  Prometheus prometheus() {
    return prometheus.orElseThrow();
  }

  String url() {
    return postgres.database().url();
  }

  /** Replaces the server by one that a new Prometheus scrapes. */
  void restart(String url, Duration lease) {
    stopServer();
    startServer(url, lease, 0);
    watch();
  }

  /** Puts {@link #network} between server and database, and returns it. */
  FaultProxy behindNetwork() {
    restart(network.jdbcUrl(), LEASE);
    return network;
  }

  /** Starts another server beside the first, in a process of its own. */
  ServerProcess withOtherServer() {
    OtherServer started = OtherServer.start(url(), 0);
    other = Optional.of(started);
    watch();
    return started.process();
  }

  /** Kills the other server, and starts it again. */
  void replaceOtherServer() {
    OtherServer replaced = other.orElseThrow();
    replaced.close();
    other = Optional.of(OtherServer.start(url(), replaced.metricsPort()));
  }

  /** Lets the other server run a call until it is killed. */
  void runOnOtherServer() {
    traffic.createACluster(abandoned, other.orElseThrow().client());
    await("reservation")
        .atMost(PATIENCE)
        .until(() -> postgres.count(RESERVED.formatted(abandoned)) == 1);
  }

  /** Sends the call of {@link #runOnOtherServer} to the first server. */
  void retry() {
    traffic.createACluster(abandoned, example.client());
  }

  /** Lets the server be away, until {@link #startServerAgain}. */
  void stopServer() {
    traffic.close();
    example.close();
  }

  void startServerAgain() {
    startServer(url(), LEASE, example.server().metricsPort());
  }

  /** Lets clients repeat a call that runs, three times a second. */
  void repeatRunningCall() {
    stopSelling();
    repeat(Duration.ofMillis(300), () -> traffic.createACluster(abandoned, example.client()));
  }

  /** Lets a client repeat a call that fails. */
  void repeatFailingCall() {
    repeat(Duration.ofMillis(200), traffic::failAgain);
  }

  /** Does something again and again, until {@link #stopRepeating}. */
  void repeat(Duration pause, Repeating.Round action) {
    repeated = Repeating.start("drill", pause, action);
  }

  void stopRepeating() {
    repeated.close();
  }

  void execute(String... statements) {
    for (String sql : statements) {
      postgres.execute(sql);
    }
  }

  /** Lets somebody run a statement in a transaction, and forget to end it. */
  void forgetTransaction(String sql) {
    try {
      Connection connection = postgres.database().superuser().getConnection();
      forgotten.add(connection); // the driver closes a connection that nobody refers to
      connection.setAutoCommit(false);
      try (Statement statement = connection.createStatement()) {
        statement.execute(sql);
      }
    } catch (SQLException failure) {
      throw new IllegalStateException(failure);
    }
  }

  /** Ends what {@link #forgetTransaction} has begun. */
  void endForgottenTransactions() {
    execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction' AND usename = 'postgres'");
  }

  void endConnectionsOf(String role) {
    execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '%s'"
            .formatted(role));
  }

  /** Waits until so many statements wait for a lock on a table. */
  void awaitWriters(String table, int number) {
    String waiting = "SELECT FROM pg_locks WHERE NOT granted AND relation = '%s'::regclass";
    await("writers")
        .atMost(PATIENCE)
        .until(() -> postgres.count(waiting.formatted(table)) >= number);
  }

  /** Lets the server's sessions see another clock, which jumps. */
  void letClockJump(String by) {
    execute(
        """
        CREATE SCHEMA fake;
        CREATE TABLE fake.jump AS SELECT interval '0' AS by;
        CREATE FUNCTION fake.clock_timestamp() RETURNS timestamptz
          LANGUAGE sql RETURN pg_catalog.clock_timestamp() + (SELECT by FROM fake.jump);
        GRANT USAGE ON SCHEMA fake TO example_app;
        GRANT SELECT ON fake.jump TO example_app;
        ALTER ROLE example_app SET search_path = fake, pg_catalog;
        """);
    restart(url(), LEASE);
    execute("UPDATE fake.jump SET by = interval '%s'".formatted(by));
  }

  void stopSelling() {
    sales = new CountDownLatch(1);
  }

  void sellAgain() {
    sales.countDown();
  }

  @Override
  public void close() {
    repeated.close();
    sellAgain();
    other.ifPresent(OtherServer::close);
    prometheus.ifPresent(Prometheus::close);
    stopServer();
    network.close();
    forgotten.clear();
    postgres.close();
  }
}
