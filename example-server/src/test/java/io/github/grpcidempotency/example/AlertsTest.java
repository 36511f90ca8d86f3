package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.example.TestClient.user;
import static io.github.grpcidempotency.test.Program.PROMETHEUS;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.github.f4b6a3.uuid.UuidCreator;
import com.google.protobuf.ByteString;
import io.github.grpcidempotency.example.run.MachineShop;
import io.github.grpcidempotency.example.run.RunningServer;
import io.github.grpcidempotency.example.service.Settings;
import io.github.grpcidempotency.procedure.ResponseProtection;
import io.github.grpcidempotency.test.NeedsProgram;
import io.github.grpcidempotency.test.RepositoryRoot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A real Prometheus raises the alert of each symptom of a real server on a real database, and ends
 * it when the symptom has ended. Two minutes of the rules are four seconds here.
 */
@NeedsProgram(PROMETHEUS)
class AlertsTest {
  private static final Path ALERTS =
      RepositoryRoot.resolve("extensions/micrometer/prometheus/idempotency-alerts.yml");
  private static final int TIMES_AS_FAST = 30;
  private static final Pattern DURATION = Pattern.compile("(?<=[\\[: ])(\\d+)([mhd])\\b");
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private static final String REFUSED = "IdempotencyCallsRefused ";

  private final SwitchableProtection keyset = new SwitchableProtection();
  private final MachineShop shop = new MachineShop();

  /** While it is not open, calls that buy a machine in one of the many regions keep running. */
  private volatile CountDownLatch sales = new CountDownLatch(0);

  private Path files;
  private RestartablePostgres postgres;
  private RunningExample example;
  private Prometheus prometheus;
  private Traffic traffic;

  /** The keyset of a server that can be exchanged while the server runs. */
  private static final class SwitchableProtection implements ResponseProtection {
    private volatile ResponseProtection current = RunningExample.secrets();

    @Override
    public ByteString seal(ByteString response, ByteString context) {
      return current.seal(response, context);
    }

    @Override
    public ByteString open(ByteString stored, ByteString context) {
      return current.open(stored, context);
    }
  }

  @BeforeEach
  void start(@TempDir Path directory) throws IOException {
    files = directory;
    postgres = RestartablePostgres.start(directory.resolve("postgres"));
    startServer(Duration.ofSeconds(30), 0);
    startPrometheus();
  }

  private void startServer(Duration lease, int metricsPort) {
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
    RunningServer server = RunningServer.start(0, metricsPort, settings, postgres.database());
    example = new RunningExample(postgres.database(), shop, server, new TestClient(server.port()));
    traffic = new Traffic(example.client());
    traffic.start();
    await("traffic").atMost(PATIENCE).until(() -> traffic.answered() > 20);
  }

  private void stopServer() {
    traffic.close();
    example.close();
  }

  private void startPrometheus() throws IOException {
    prometheus =
        Prometheus.start(
            Files.createTempDirectory(files, "prometheus"),
            example.server().metricsPort(),
            Files.writeString(files.resolve("rules.yml"), quickened(), UTF_8));
    await("rules")
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(prometheus.brokenRules()).isEmpty());
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

  @AfterEach
  void stop() {
    sales.countDown();
    prometheus.close();
    stopServer();
    postgres.close();
  }

  @Test
  @Tag("torture")
  void theWrongKeysetIsAnAlertUntilTheRightOneIsBack() {
    ApiKeys apiKeys = ApiKeys.inNewProject(example.client(), user(UUID.randomUUID()));
    UUID key = UuidCreator.getTimeOrderedEpoch();
    apiKeys.create("ci", key);
    ResponseProtection right = keyset.current;

    keyset.current = RunningExample.secrets();
    assertThat(apiKeys.refusedCreate("ci", key).reason())
        .isEqualTo("IDEMPOTENCY_RECORD_UNREADABLE");
    awaitAlert("IdempotencyRecordsUnreadable");

    keyset.current = right;
    assertThat(apiKeys.create("ci", key).isReplayed()).isTrue();
    awaitNoAlert();
  }

  @Test
  @Tag("torture")
  void aStoppedDatabaseIsAnAlertAndEndsNoOtherAlert() {
    postgres.execute(
        """
        INSERT INTO idempotency.idempotency_keys
          (id, idempotency_key, user_uuid, procedure, request_hash, hash_version, lease_expires, expires)
        VALUES (gen_random_uuid(), 'stuck', gen_random_uuid(), 'shop.v1.Orders/CreateOrder', '', 1,
                now() - interval '1 min', now() + interval '1 h')
        """);
    awaitAlert("IdempotencyStuckLeases");

    postgres.stop();
    awaitAlert(REFUSED + "no_connection");
    awaitAlert("IdempotencyMetricsUnreadable");
    await()
        .during(Duration.ofSeconds(10))
        .until(() -> prometheus.firing().contains("IdempotencyStuckLeases"));

    postgres.startAgain();
    postgres.execute("DELETE FROM idempotency.idempotency_keys WHERE idempotency_key = 'stuck'");
    awaitNoAlert();
  }

  @Test
  void aRevokedRightIsAnAlertUntilItIsGrantedAgain() {
    postgres.execute("REVOKE INSERT ON idempotency.idempotency_keys FROM example_app");
    awaitAlert(REFUSED + "broken");

    postgres.execute("GRANT INSERT ON idempotency.idempotency_keys TO example_app");
    awaitNoAlert();
  }

  @Test
  @Tag("torture")
  void aDatabaseThatRefusesLoginsOrWritesIsAnAlert() {
    postgres.execute("ALTER ROLE example_app NOLOGIN");
    postgres.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'example_app'");
    awaitAlert(REFUSED + "no_login");
    postgres.execute("ALTER ROLE example_app LOGIN");

    postgres.execute("ALTER SYSTEM SET default_transaction_read_only = on");
    postgres.execute("SELECT pg_reload_conf()");
    awaitAlert(REFUSED + "read_only");

    postgres.execute("ALTER SYSTEM RESET default_transaction_read_only");
    postgres.execute("SELECT pg_reload_conf()");
    awaitNoAlert();
  }

  @Test
  @Tag("torture")
  void answersThatCannotBeRecordedAreAnAlertUntilTheyAreRecorded() {
    try (Handle holder = Jdbi.open(postgres.database().superuser())) {
      holder.begin();
      holder.execute("LOCK TABLE tenant.node_pools IN SHARE MODE"); // writers wait
      await("writers").atMost(PATIENCE).until(() -> writersWaiting(holder) >= 6);
      postgres.execute("REVOKE UPDATE ON idempotency.idempotency_keys FROM example_app");
      holder.rollback();
    }
    awaitAlert("IdempotencyLateRecordingsPileUp");

    postgres.execute("GRANT UPDATE ON idempotency.idempotency_keys TO example_app");
    awaitNoAlert();
  }

  private static int writersWaiting(Handle superuser) {
    return superuser
        .createQuery(
            "SELECT count(*) FROM pg_locks"
                + " WHERE NOT granted AND relation = 'tenant.node_pools'::regclass")
        .mapTo(Integer.class)
        .one();
  }

  @Test
  @Tag("torture")
  void leasesThatCannotBeRenewedAndSweepsThatFailAreAlerts() throws IOException {
    stopServer();
    prometheus.close(); // it has seen sweeps of the last three hours that did not fail
    startServer(Duration.ofSeconds(3), 0);
    sales = new CountDownLatch(1);
    postgres.execute(
        "REVOKE EXECUTE ON FUNCTION idempotency.renew_leases, idempotency.sweep_expired"
            + " FROM example_app");
    startPrometheus();
    awaitAlert("IdempotencyRenewalsFail");
    awaitAlert("IdempotencySweepsFail");

    sales.countDown();
    postgres.execute("SELECT idempotency.grant_to('example_app')");
    awaitNoAlert();
  }

  @Test
  @Tag("torture")
  void aServerThatIsGoneIsAnAlertUntilItIsBack() {
    int port = example.server().metricsPort();
    stopServer();
    awaitAlert("IdempotencyMetricsMissing");

    startServer(Duration.ofSeconds(30), port);
    awaitNoAlert();
  }

  @Test
  @Tag("torture")
  void aFullPoolFiresAnAlertUntilAConnectionIsFree() {
    try (Handle holder = Jdbi.open(postgres.database().superuser())) {
      holder.begin();
      holder.execute("LOCK TABLE tenant.projects IN SHARE MODE"); // writers wait
      awaitAlert(REFUSED + "pool_exhausted");
      holder.rollback();
    }
    awaitNoAlert();
  }

  @Test
  @Tag("torture")
  void aBrokenOutboxQueryIsAnAlertUntilItWorks() {
    postgres.execute("REVOKE SELECT ON authz.outbox FROM example_app");
    awaitAlert("IdempotencyStatusUnknown");

    postgres.execute("GRANT SELECT ON authz.outbox TO example_app");
    awaitNoAlert();
  }

  @Test
  @Tag("torture")
  void figuresThatCannotBeReadAreAnAlert() {
    postgres.execute("REVOKE EXECUTE ON FUNCTION idempotency.statistics() FROM example_app");
    awaitAlert("IdempotencyMetricsUnreadable");

    postgres.execute("GRANT EXECUTE ON FUNCTION idempotency.statistics() TO example_app");
    awaitNoAlert();
  }

  private void awaitAlert(String alert) {
    await(alert).atMost(PATIENCE).until(() -> prometheus.firing().contains(alert));
  }

  private void awaitNoAlert() {
    await("no alert")
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(prometheus.firing()).isEmpty());
  }

  private static String quickened() throws IOException {
    return DURATION.matcher(Files.readString(ALERTS, UTF_8)).replaceAll(AlertsTest::quickened);
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
}
