package io.github.grpcidempotency.cli;

import static io.github.grpcidempotency.test.Program.JAVA;
import static io.github.grpcidempotency.test.Program.command;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.testing.PostgresFixture;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The jar that operators run, as they run it. */
@Tag("jar")
class RunnableJarTest {
  private static final Path JAR = Path.of("target", "idempotency.jar");

  @Test
  void itContainsItsDependenciesAndNoUnwantedFiles() throws IOException {
    try (JarFile jar = new JarFile(JAR.toFile())) {
      Set<String> entries = jar.stream().map(entry -> entry.getName()).collect(Collectors.toSet());
      assertThat(entries)
          .contains("META-INF/licenses/grpc-idempotency/LICENSE")
          .noneMatch(name -> name.endsWith("module-info.class"))
          .noneMatch(name -> name.matches("META-INF/.*\\.(SF|RSA|DSA)"));
      assertThat(text(jar, "META-INF/LICENSE")).contains("PostgreSQL Global", "Apache License");
      assertThat(text(jar, "META-INF/LICENSE.txt")).contains("QOS.ch", "Apache License");
      assertThat(text(jar, "META-INF/services/java.sql.Driver")).contains("org.postgresql.Driver");
    }
  }

  private static String text(JarFile jar, String entry) throws IOException {
    return new String(
        jar.getInputStream(jar.getEntry(entry)).readAllBytes(), StandardCharsets.UTF_8);
  }

  /** What the commands do is tested in this JVM; here they need the jar's resources and drivers. */
  @Test
  void itMigratesAndFrees() throws Exception {
    Orders.createRoles();
    try (PostgresFixture database = Orders.unmigrated()) {
      assertThat(output(database, Orders.OWNER, "migrate")).contains("applied: 1, 2, 3");
      Orders.run(database.owner(), Orders.file("orders.sql"));
      Orders.insertOperations(database);
      assertThat(
              output(database, Orders.OPERATOR, "free", OperationIds.STUCK, "--reason", "grün 日本"))
          .contains("was freed");
      assertThat(Shell.with(Orders.operator(database)).run("audit").out()).contains("grün 日本");
    }
  }

  @Test
  void theLauncherRunsTheJarBesideIt(@TempDir Path folder) throws Exception {
    Path launcher = Path.of("src", "main", "launcher", "idempotency");
    Files.copy(JAR, folder.resolve("idempotency.jar"));
    Path copy =
        Files.copy(launcher, folder.resolve("idempotency"), StandardCopyOption.COPY_ATTRIBUTES);
    Path link = Files.createSymbolicLink(folder.resolve("in-the-path"), copy);
    Process process = command(List.of(link.toString(), "migrate", "--sql")).start();
    process.getOutputStream().close();

    assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
        .startsWith("BEGIN;");
    assertThat(process.waitFor()).isZero();
  }

  /** Returns what both outputs have: where a command ends well, nothing is on the second. */
  private static String output(PostgresFixture database, String role, String... arguments)
      throws Exception {
    List<String> command = new ArrayList<>();
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-jar", JAR.toString()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = JAVA.process(command).redirectErrorStream(true);
    builder.environment().put("IDEMPOTENCY_URL", Orders.url(database));
    builder.environment().put("IDEMPOTENCY_USER", role);
    builder.environment().put("LC_ALL", "C.UTF-8");
    Process process = builder.start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    assertThat(process.exitValue()).as(output).isZero();
    return output;
  }
}
