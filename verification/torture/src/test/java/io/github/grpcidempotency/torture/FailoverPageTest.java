package io.github.grpcidempotency.torture;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.base.Splitter;
import io.github.grpcidempotency.test.RepositoryRoot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What {@code docs/operations/failover.md} advises is what the torture runs with. */
class FailoverPageTest {
  private static final Path PAGE = RepositoryRoot.resolve("docs/operations/failover.md");
  private static final Path SOURCES = Path.of("src/test/java/io/github/grpcidempotency/torture");

  @Test
  void theUrlHasTheSettingsOfTheServers() throws IOException {
    String query = block("properties").strip().replaceAll(".*targetServerType=primary&", "");
    String life = ServerLife.ordinary().driverProperties().toString();
    for (String setting : Splitter.on('&').split(query)) {
      assertThat(FailoverPostgres.DRIVER + life).contains(setting);
    }
  }

  @Test
  void theProxyIsSetUpLikeTheOneBeforeTheNodes() throws IOException {
    String harness = Files.readString(SOURCES.resolve("failover/PatroniCluster.java"));
    block("text")
        .lines()
        .map(String::strip)
        .filter(line -> !line.startsWith("bind ") && !line.startsWith("server "))
        .forEach(line -> assertThat(harness).contains(line));
  }

  private static String block(String language) throws IOException {
    Matcher block =
        Pattern.compile("(?s)```" + language + "\\n(.*?)```").matcher(Files.readString(PAGE));
    assertThat(block.find()).isTrue();
    return block.group(1);
  }
}
