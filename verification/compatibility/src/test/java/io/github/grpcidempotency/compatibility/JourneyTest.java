package io.github.grpcidempotency.compatibility;

import static org.assertj.core.api.Assertions.assertThat;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Plays {@link Journey} on the oldest and the newest versions, or with {@code
 * -Dcompatibility.all=true} on all sets of versions, each in a process and a database of its own.
 */
class JourneyTest {
  private static EmbeddedPostgres postgres;

  static Stream<Row> rows() {
    return Boolean.getBoolean("compatibility.all") ? Row.all() : Row.outermost();
  }

  @BeforeAll
  static void startPostgres() throws IOException, SQLException {
    postgres = EmbeddedPostgres.builder().setPGStartupWait(Duration.ofMinutes(1)).start();
    asSuperuser("CREATE ROLE seat_owner LOGIN", "CREATE ROLE seat_app LOGIN");
  }

  @AfterAll
  static void stopPostgres() throws IOException {
    postgres.close();
  }

  @ParameterizedTest
  @MethodSource("rows")
  void everySentenceHolds(Row row, @TempDir Path directory) throws Exception {
    String database = row.toString().replaceAll("\\W+", "_").toLowerCase(Locale.ROOT);
    asSuperuser("CREATE DATABASE %s OWNER seat_owner".formatted(database));

    List<String> said =
        run(
            row.classPath().stream().map(Path::toString),
            directory.resolve("output"),
            "jdbc:postgresql://localhost:%d/%s".formatted(postgres.getPort(), database));

    assertThat(said).containsAll(row.jars()).endsWith(Journey.HELD);
  }

  /** Maven takes the nearest version, and of two that are equally near the first. */
  @ParameterizedTest
  @ValueSource(strings = {"ours-first", "ours-last"})
  @Tag("torture")
  void aServiceKeepsItsVersionsWhereverItListsTheLibrary(String service, @TempDir Path directory)
      throws Exception {
    asSuperuser("CREATE DATABASE \"%s\" OWNER seat_owner".formatted(service));
    Stream<String> own =
        Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(entry -> entry.matches(".*(test-classes|assertj-core|byte-buddy).*"));
    String listed = Files.readString(Path.of(service, "target", "class-path")).strip();

    List<String> said =
        run(
            Stream.concat(own, Stream.of(listed)),
            directory.resolve("output"),
            "jdbc:postgresql://localhost:%d/%s".formatted(postgres.getPort(), service));

    assertThat(said).containsAll(LinkageTest.JARS_OF_A_SERVICE).endsWith(Journey.HELD);
  }

  private List<String> run(Stream<String> classPath, Path output, String url)
      throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                "-cp",
                classPath.collect(Collectors.joining(File.pathSeparator)),
                Journey.class.getName(),
                url)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      boolean ended = process.waitFor(120, TimeUnit.SECONDS);
      String said = Files.readString(output, StandardCharsets.UTF_8);
      assertThat(ended).as("ended within two minutes, having said:%n%s", said).isTrue();
      assertThat(process.exitValue()).as("exit, having said:%n%s", said).isZero();
      return said.lines().toList();
    } finally {
      process.destroyForcibly();
    }
  }

  private static void asSuperuser(String... statements) throws SQLException {
    try (Connection superuser = postgres.getPostgresDatabase().getConnection();
        Statement statement = superuser.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }
}
