package io.github.grpcidempotency.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.testing.PostgresFixture;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A role with a password, on a server that asks for it. */
class PasswordTest {
  private static final String ROLE = "orders_with_password";
  private static final String PASSWORD = "sword fish:7";
  private static final PostgresFixture database = Orders.create();
  private static String trusting = "";

  private final Shell shell =
      Shell.with(Map.of("IDEMPOTENCY_URL", Orders.url(database), "IDEMPOTENCY_USER", ROLE));

  @BeforeAll
  static void demandPasswords() throws Exception {
    Orders.run(
        database.superuser(), "CREATE ROLE %s LOGIN PASSWORD '%s'".formatted(ROLE, PASSWORD));
    Orders.run(database.owner(), "SELECT idempotency.grant_operator_to('%s')".formatted(ROLE));
    trusting = Files.readString(rules());
    Files.writeString(rules(), "host all %s all scram-sha-256\n%s".formatted(ROLE, trusting));
    Orders.run(database.superuser(), "SELECT pg_reload_conf()");
    Shell without =
        Shell.with(Map.of("IDEMPOTENCY_URL", Orders.url(database), "IDEMPOTENCY_USER", ROLE));
    await().until(() -> without.run("stats").code() == ExitCode.NO_RIGHT.code());
  }

  @AfterAll
  static void trustAgain() throws Exception {
    Files.writeString(rules(), trusting);
    Orders.run(database.superuser(), "SELECT pg_reload_conf()");
    database.close();
  }

  @Test
  void itComesFromTheEnvironmentOrThePerson() {
    shell.and("IDEMPOTENCY_PASSWORD", PASSWORD).run("stats").expect(ExitCode.OK);
    assertThat(shell.typing(PASSWORD).run("stats").expect(ExitCode.OK).err())
        .contains("Password of " + ROLE);
  }

  @Test
  void itComesFromTheFileOfPasswordsThatOtherProgramsUse(@TempDir Path folder) throws Exception {
    Path file =
        Files.writeString(
            folder.resolve("pgpass"),
            "*:*:*:%s:%s\n".formatted(ROLE, PASSWORD.replace(":", "\\:")));
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    System.setProperty("org.postgresql.pgpassfile", file.toString());
    try {
      shell.run("stats").expect(ExitCode.OK);
    } finally {
      System.clearProperty("org.postgresql.pgpassfile");
    }
  }

  @Test
  void aWrongOneIsRefused() {
    assertThat(
            shell.and("IDEMPOTENCY_PASSWORD", "cod").run("stats").expect(ExitCode.NO_RIGHT).err())
        .contains("refused the login")
        .doesNotContain("cod");
    shell.typing("cod").run("stats").expect(ExitCode.NO_RIGHT);
    shell.typing().run("stats").expect(ExitCode.NO_RIGHT);
  }

  private static Path rules() throws Exception {
    try (Connection connection = database.superuser().getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SHOW hba_file")) {
      row.next();
      return Path.of(row.getString(1));
    }
  }
}
