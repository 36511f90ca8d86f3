package io.github.grpcidempotency.example;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.example.run.Database;
import io.github.grpcidempotency.test.Program;
import io.github.grpcidempotency.test.RepositoryRoot;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The demo, in a process as a user starts it. */
@Timeout(240)
class DemoTest {
  @Test
  void everySceneHoldsAndAKilledServersCallHasOneRowForItsKey() throws Exception {
    Database database = Databases.copy();
    Process demo = start("demo", "--jdbc-url=" + database.url());
    String shown;
    try (BufferedReader out = demo.inputReader(UTF_8)) {
      shown = String.join("\n", out.lines().toList());
      assertThat(demo.waitFor()).as(shown).isZero();
    } finally {
      demo.destroyForcibly();
    }
    assertThat(shown)
        .endsWith("All of it held.")
        .contains("kill -9 ")
        .doesNotContain("\u001b", "BROKEN", " INFO ", " WARN ");
    assertThat(Files.readString(RepositoryRoot.PATH.resolve("docs/demo.svg")))
        .as("docs/demo.svg shows another demo: CONTRIBUTING.md says how to record it")
        .contains(titles(shown));

    try (Handle rows = Jdbi.open(database.superuser())) {
      // The reserved run was taken over; nothing was left of the transactional one.
      assertThat(records(rows, "organization.v1.ClusterService/CreateCluster"))
          .containsExactly("2 true");
      assertThat(records(rows, "organization.v1.NamespaceService/CreateNamespace"))
          .containsExactly("1 true");
      assertThat(count(rows, "tenant.clusters")).isEqualTo(1);
      assertThat(count(rows, "cloud.sales")).isEqualTo(1);
      assertThat(count(rows, "tenant.namespaces")).isEqualTo(1);
      assertThat(count(rows, "authz.outbox WHERE resource_name IN ('apollo', 'crew')"))
          .isEqualTo(2);
      assertThat(count(rows, "tenant.projects WHERE name = 'voyager'")).isEqualTo(1);
    }
  }

  @Test
  @Tag("torture") // starts four JVMs
  void aDemoThatIsKilledLeavesNoProcess() throws Exception {
    Process demo = start();
    try (BufferedReader out = demo.inputReader(UTF_8)) {
      String url = next(out, "jdbc:").strip().replaceFirst("^\\.\\. +", "");
      next(out, "kill -9 ");
      List<ProcessHandle> started = new ArrayList<>(demo.descendants().toList());
      assertThat(started).hasSizeGreaterThanOrEqualTo(2);
      Path data = dataDirectory(url);
      String postmaster = Files.readAllLines(data.resolve("postmaster.pid")).get(0).strip();
      started.add(ProcessHandle.of(Long.parseLong(postmaster)).orElseThrow());

      demo.toHandle().destroyForcibly();
      await().until(() -> started.stream().noneMatch(ProcessHandle::isAlive));
      await().until(() -> !Files.exists(data));
    } finally {
      demo.destroyForcibly();
    }
  }

  private static Process start(String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-cp"));
    command.addAll(List.of(System.getProperty("java.class.path"), Example.class.getName()));
    command.addAll(List.of(arguments));
    return Program.JAVA.process(command).redirectErrorStream(true).start();
  }

  private static String[] titles(String shown) {
    return shown
        .lines()
        .filter(line -> line.matches("\\d\\. .*"))
        .map(line -> line.replace("&", "&amp;"))
        .toArray(String[]::new);
  }

  private static String next(BufferedReader out, String containing) throws IOException {
    String line = out.readLine();
    while (line != null && !line.contains(containing)) {
      line = out.readLine();
    }
    assertThat(line).isNotNull();
    return String.valueOf(line);
  }

  private static Path dataDirectory(String url) {
    try (Handle superuser = Jdbi.open(url)) {
      return Path.of(superuser.select("SHOW data_directory").mapTo(String.class).one());
    }
  }

  private static List<String> records(Handle rows, String procedure) {
    return rows.select(
            "SELECT attempt || ' ' || (completed IS NOT NULL) FROM idempotency.idempotency_keys"
                + " WHERE procedure = ?",
            procedure)
        .mapTo(String.class)
        .list();
  }

  private static int count(Handle rows, String table) {
    return rows.select("SELECT count(*) FROM " + table).mapTo(Integer.class).one();
  }
}
