package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.test.Program.PROMETHEUS;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.common.base.Splitter;
import com.google.common.collect.ListMultimap;
import com.google.common.collect.RangeSet;
import com.google.common.collect.TreeRangeSet;
import io.github.grpcidempotency.test.NeedsProgram;
import io.github.grpcidempotency.test.RepositoryRoot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Each incident raises the alert that names its cause, once, and no other; the alert ends after the
 * remedy. {@code -Ddrill.times=1} drills at the real speed of the rules, and {@code
 * -Ddrill.only=DISK_FULL,READ_ONLY} only these incidents.
 */
@NeedsProgram(PROMETHEUS)
class DrillTest {
  /** What an overloaded machine of the test causes in any incident. */
  private static final Set<String> OF_THE_MACHINE =
      Set.of("IdempotencyStoreSlow", "IdempotencyMetricsMissing");

  private static final String ONLY = System.getProperty("drill.only", "");

  /** A row of the page's table of incidents. */
  private static final Pattern ROW =
      Pattern.compile("^(\\| [^|]+ \\| \\[Idempotency\\w+]\\(#\\w+\\)( `\\w+`)? \\|)");

  private static final List<String> REPORT = new ArrayList<>();

  @TempDir private Path files;

  @ParameterizedTest
  @EnumSource(names = "RIGHT_REVOKED")
  void theAlertOfAShortIncidentFiresUntilTheRemedy(Incident incident) throws IOException {
    happens(incident);
  }

  @ParameterizedTest
  @EnumSource(names = "RIGHT_REVOKED", mode = EnumSource.Mode.EXCLUDE)
  @Tag("torture")
  void theAlertOfAnIncidentFiresUntilTheRemedy(Incident incident) throws IOException {
    happens(incident);
  }

  @Test
  void thePageNamesTheAlertOfEachIncident() throws IOException {
    Stream<String> rows =
        Files.readString(RepositoryRoot.resolve("docs/operations/alerts.md"), UTF_8).lines();
    assertThat(rows.map(ROW::matcher).filter(Matcher::find).map(row -> row.group(1)))
        .containsExactly(
            Stream.of(Incident.values()).map(DrillTest::beginOfRow).toArray(String[]::new));
  }

  private static String beginOfRow(Incident incident) {
    List<String> alert = Splitter.on(' ').splitToList(incident.alert); // its name, and a cause
    String name = alert.get(0);
    return "| %s | [%s](#%s)%s |"
        .formatted(
            incident,
            name,
            name.toLowerCase(Locale.ROOT),
            alert.size() == 1 ? "" : " `" + alert.get(1) + "`");
  }

  private void happens(Incident incident) throws IOException {
    assumeTrue(ONLY.isEmpty() || List.of(ONLY.split(",")).contains(incident.name()));
    try (Drill drill = new Drill(files)) {
      drill.watch();
      incident.fault.accept(drill);
      await(incident.alert)
          .atMost(Drill.PATIENCE)
          .untilAsserted(() -> assertThat(drill.prometheus().firing()).contains(incident.alert));

      Instant remedied = Instant.now();
      incident.remedy.accept(drill);
      await("no alert")
          .atMost(Drill.PATIENCE)
          .untilAsserted(() -> assertThat(drill.prometheus().firing()).isEmpty());

      ListMultimap<String, RangeSet<Instant>> fired = drill.prometheus().fired(drill.begun());
      assertThat(fired.values()).allSatisfy(times -> assertThat(times.asRanges()).hasSize(1));
      report(incident, drill.begun(), remedied, fired);
      assertThat(fired.keySet())
          .allSatisfy(
              alert ->
                  assertThat(
                          alert.equals(incident.alert)
                              || incident.consequences.contains(alert)
                              || OF_THE_MACHINE.contains(alert))
                      .as(alert)
                      .isTrue());
    }
  }

  private static void report(
      Incident incident,
      Instant begun,
      Instant remedied,
      ListMultimap<String, RangeSet<Instant>> fired) {
    StringBuilder row = new StringBuilder("| %s |".formatted(incident));
    fired
        .asMap()
        .forEach(
            (alert, times) -> {
              RangeSet<Instant> all = TreeRangeSet.create();
              times.forEach(all::addAll);
              row.append(
                  " %s: %.1f, %.1f min |"
                      .formatted(
                          alert,
                          minutes(begun, all.span().lowerEndpoint()),
                          minutes(remedied, all.span().upperEndpoint())));
            });
    REPORT.add(row.toString());
    System.out.println("drill " + row);
  }

  private static double minutes(Instant from, Instant until) {
    return Duration.between(from, until).toMillis() * Drill.TIMES_AS_FAST / 60_000.0;
  }

  @AfterAll
  static void report() {
    REPORT.forEach(System.out::println);
  }
}
