package io.github.grpcidempotency.micrometer;

import static io.github.grpcidempotency.test.Program.PROMTOOL;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.test.NeedsProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** Prometheus' own tool accepts the files, and finds each alert fired when it should be. */
@NeedsProgram(PROMTOOL)
class PromtoolTest {
  @Test
  void theRulesAreWellFormed() throws Exception {
    assertSucceeds("check", "rules", MonitoringFiles.ALERTS.toString());
  }

  @ParameterizedTest
  @FieldSource("io.github.grpcidempotency.micrometer.MonitoringFiles#ALERT_TESTS")
  void everyAlertIsFiredWhenItShouldBeAndNotOtherwise(Path cases) throws Exception {
    assertSucceeds("test", "rules", cases.toString());
  }

  /** As rules, because the tool checks no other queries without a server. */
  @Test
  void theQueriesOfTheDashboardAreWellFormed(@TempDir Path directory) throws Exception {
    String rules =
        MonitoringFiles.queries().stream()
            .map(query -> query.replace("$__rate_interval", "1m"))
            .distinct()
            .map(expression -> "      - {record: query, expr: '%s'}\n".formatted(expression))
            .collect(Collectors.joining());
    Path file =
        Files.writeString(
            directory.resolve("queries.yml"), "groups:\n  - name: queries\n    rules:\n" + rules);
    assertSucceeds("check", "rules", "--lint=none", file.toString());
  }

  private static void assertSucceeds(String... arguments) throws Exception {
    Process promtool = PROMTOOL.process(arguments).redirectErrorStream(true).start();
    String output = read(promtool);
    assertThat(promtool.waitFor()).as(output).isZero();
  }

  private static String read(Process process) throws IOException {
    return new String(process.getInputStream().readAllBytes(), UTF_8);
  }
}
