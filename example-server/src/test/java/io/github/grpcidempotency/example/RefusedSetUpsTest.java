package io.github.grpcidempotency.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.example.run.database.EmbeddedDatabase;
import io.github.grpcidempotency.example.run.settings.DataFiles;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The program reports a problem in one sentence, and ends. */
@Timeout(60) // a server that is not refused would serve for ever
class RefusedSetUpsTest {
  private static EmbeddedDatabase database;
  private static Path keyset;

  @BeforeAll
  static void startDatabase() {
    database = MigratedDatabase.start();
    keyset = new DataFiles(database.directory()).keyset();
    try (Handle superuser = Jdbi.open(database.superuser())) {
      superuser.execute("CREATE ROLE bypassing LOGIN BYPASSRLS");
      superuser.execute("CREATE ROLE stranger LOGIN");
    }
  }

  @AfterAll
  static void stopDatabase() {
    database.close();
  }

  @Test
  void aPortInUse(@TempDir Path dataDirectory) throws IOException {
    try (ServerSocket taken = new ServerSocket(0)) {
      String port = String.valueOf(taken.getLocalPort());
      assertRefused(
          "Port " + port + " cannot be listened on (Address already in use); choose another",
          "--port",
          port,
          "--data-dir",
          dataDirectory.toString());
    }
  }

  @Test
  void aDatabaseThatCannotBeReached() throws IOException {
    int nobodyListens;
    try (ServerSocket closedSoon = new ServerSocket(0)) {
      nobodyListens = closedSoon.getLocalPort();
    }
    String[] arguments = {
      "--port",
      "0",
      "--jdbc-url",
      "jdbc:postgresql://localhost:" + nobodyListens + "/example",
      "--keyset",
      keyset.toString()
    };
    String sentence = "PostgreSQL at localhost:" + nobodyListens + "/example cannot be used";
    assertRefused(sentence, arguments);
    // As a process it is heard whole, with what the pool and the driver log.
    try (ProgramProcess server = ProgramProcess.start(serve(arguments))) {
      assertThat(server.awaitExit()).isEqualTo(1);
      assertThat(server.out()).isEmpty();
      assertThat(server.err())
          .singleElement()
          .satisfies(said -> assertThat(said).startsWith(sentence));
    }
  }

  @Test
  void aUrlThatIsNone() {
    assertRefused(
        "\"localhost\" is not the JDBC URL",
        "--port",
        "0",
        "--jdbc-url",
        "localhost",
        "--keyset",
        keyset.toString());
  }

  @Test
  void aSuperuser() {
    assertRefused(
        "The role postgres would bypass row-level security",
        "--port",
        "0",
        "--jdbc-url",
        url("postgres"),
        "--keyset",
        keyset.toString());
  }

  @Test
  void aRoleThatBypassesRowLevelSecurity() {
    assertRefused(
        "The role bypassing would bypass row-level security",
        "--port",
        "0",
        "--jdbc-url",
        url("bypassing"),
        "--keyset",
        keyset.toString());
  }

  @Test
  void theOwnerOfTheTables() {
    assertRefused(
        "The server cannot start: idempotency cannot be set up: the role example_owner owns",
        "--port",
        "0",
        "--jdbc-url",
        url("example_owner"),
        "--keyset",
        keyset.toString());
  }

  @Test
  void aRoleThatLacksRights() {
    assertRefused(
        "The server cannot start: idempotency cannot be set up: the role stranger may not",
        "--port",
        "0",
        "--jdbc-url",
        url("stranger"),
        "--keyset",
        keyset.toString());
  }

  @Test
  void aWorkerThatLacksRights() {
    assertRefused(
        "The role that drains the outbox cannot be used: ERROR: permission denied",
        "--port",
        "0",
        "--jdbc-url",
        url("example_app"),
        "--worker-user",
        "stranger",
        "--keyset",
        keyset.toString());
  }

  @Test
  void anOwnerThatMayNotMigrate() {
    assertRefused(
        "The database could not be migrated: ERROR: permission denied",
        "--port",
        "0",
        "--jdbc-url",
        url("example_app"),
        "--owner-user",
        "stranger",
        "--keyset",
        keyset.toString());
  }

  @Test
  void aDataDirectoryThatIsInUse() {
    assertRefused(
        "The data directory " + database.directory() + " is in use by another example server.",
        "--port",
        "0",
        "--data-dir",
        database.directory().toString());
  }

  @Test
  void aProviderWhosePortIsTaken(@TempDir Path directory) throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 0, InetAddress.getLoopbackAddress())) {
      String port = "" + taken.getLocalPort();
      EndedProgram provider =
          EndedProgram.of("provider", "--port", port, "--data-dir", directory.toString());
      assertThat(provider.exitCode()).isEqualTo(1);
      assertThat(provider.err().lines())
          .singleElement()
          .asString()
          .startsWith("The provider cannot be started on port " + port + ": ");
    }
  }

  @Test
  void aDatabaseOfOnesOwnWithoutAKeyset() {
    assertRefused(
        "With --jdbc-url, --keyset is needed: all servers of a database need the same keys",
        "--port",
        "0",
        "--jdbc-url",
        url("example_app"));
  }

  @Test
  void aKeysetThatIsMissing(@TempDir Path directory) {
    Path missing = directory.resolve("keys.json");
    assertRefused(
        "There is no keyset at " + missing + "; \"keys CREATE\" makes one",
        "--port",
        "0",
        "--data-dir",
        directory.toString(),
        "--keyset",
        missing.toString());
    assertThat(directory.resolve("postgres")).doesNotExist();
  }

  @Test
  void aKeysetThatIsNone(@TempDir Path directory) throws IOException {
    Path keys = Files.writeString(directory.resolve("keys.json"), "{\"key\": []}");
    assertRefused(
        keys + " is not a Tink keyset in JSON with keys that encrypt (AEAD).",
        "--port",
        "0",
        "--data-dir",
        directory.toString(),
        "--keyset",
        keys.toString());
  }

  @Test
  void retentionsThatMakeNoSenseAllOfThemAtOnce(@TempDir Path directory) throws IOException {
    Path file =
        Files.writeString(
            directory.resolve("retention.properties"),
            "CreateProjekt = 48h\nCreateCluster = soon\nInviteMember = 0s\nCreateProject = 2d\n");
    assertRefused(
        "The retentions in "
            + file
            + " cannot be used: CreateCluster: 'soon' is no duration such as 500ms, 30s, 5m, 24h, 2d or PT1H30M, nor one of [financial, interactive, invitation, webhook]; CreateProjekt is no method that keeps records; InviteMember: '0s' is not more than zero, nor one of [financial, interactive, invitation, webhook].",
        "--port",
        "0",
        "--data-dir",
        directory.toString());
  }

  @Test
  void aPeriodOfUsageThatIsNone() {
    assertRefused(
        "The server cannot start: a period of usage lasts at least 100 ms, not PT0S",
        "--port",
        "0",
        "--no-migrate",
        "--jdbc-url",
        url("example_app"),
        "--keyset",
        keyset.toString(),
        "--usage-period",
        "0s");
  }

  @Test
  void columnsThatTheTableOfKeysLacksAllOfThemAtOnce() {
    assertRefusedAfter(
        "ALTER TABLE idempotency.idempotency_keys DROP COLUMN api_key_id, DROP COLUMN install_id",
        refusal ->
            assertThat(refusal)
                .startsWith("The server cannot start: idempotency cannot be set up:")
                .contains(
                    "organization.v1.APIKeyService/CreateAPIKey: the table has no column api_key_id with a foreign key; call idempotency.add_resource_type('api_key', …)")
                .contains(
                    "organization.v1.ClusterService/AddInstall: the table has no column install_id with a foreign key; call idempotency.add_resource_type('install', …)"));
  }

  @Test
  void aRoleThatMayNotRevoke() {
    assertRefusedAfter(
        "REVOKE UPDATE (revoked) ON tenant.api_keys FROM example_app",
        refusal ->
            assertThat(refusal)
                .startsWith("The role that serves calls lacks rights on tenant.api_keys;"));
  }

  @Test
  void aWorkerWhoseJobsCannotBeRecorded() {
    assertRefusedAfter(
        "REVOKE ALL ON idempotency.idempotency_keys FROM example_worker",
        refusal ->
            assertThat(refusal)
                .startsWith(
                    "The server cannot start: idempotency cannot be set up: the role example_worker may not use idempotency.idempotency_keys"));
  }

  /** Starts on a copy of the database to which somebody has done something since. */
  private static void assertRefusedAfter(String deed, Consumer<String> sentence) {
    try (Handle superuser = superuser("postgres")) {
      superuser.execute("DROP DATABASE IF EXISTS copy WITH (FORCE)");
      superuser.execute("CREATE DATABASE copy TEMPLATE example");
    }
    try (Handle superuser = superuser("copy")) {
      superuser.execute(deed);
    }
    String url = url("example_app").replace("/example?", "/copy?");
    assertRefused(
        sentence, "--port", "0", "--no-migrate", "--jdbc-url", url, "--keyset", keyset.toString());
  }

  private static Handle superuser(String name) {
    return Jdbi.open(database.jdbcUrl().replace("/example?", "/" + name + "?"));
  }

  private static String url(String user) {
    return database.jdbcUrl().replace("user=postgres", "user=" + user);
  }

  private static void assertRefused(String sentence, String... arguments) {
    assertRefused(refusal -> assertThat(refusal).startsWith(sentence), arguments);
  }

  private static void assertRefused(Consumer<String> sentence, String... arguments) {
    EndedProgram server = EndedProgram.of(serve(arguments));
    assertThat(server.exitCode()).isEqualTo(1);
    assertThat(server.out()).isEmpty();
    assertThat(server.err().lines()).singleElement().satisfies(sentence);
  }

  private static String[] serve(String... arguments) {
    return Stream.concat(Stream.of("serve"), Stream.of(arguments)).toArray(String[]::new);
  }
}
