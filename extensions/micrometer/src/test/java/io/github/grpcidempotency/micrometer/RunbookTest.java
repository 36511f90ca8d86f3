package io.github.grpcidempotency.micrometer;

import static io.github.grpcidempotency.micrometer.MonitoringFiles.ALERTS;
import static io.github.grpcidempotency.micrometer.MonitoringFiles.found;
import static io.github.grpcidempotency.micrometer.MonitoringFiles.read;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.test.RepositoryRoot;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page about the alerts has a section for each alert. */
class RunbookTest {
  private static final String PAGE = read(RepositoryRoot.resolve("docs/operations/alerts.md"));
  private static final String FIRST_PAGE =
      read(RepositoryRoot.resolve("docs/operations/unavailable.md"));
  private static final List<String> NAMES =
      found(Pattern.compile("- alert: (\\w+)"), 1, read(ALERTS));
  private static final Pattern HEADING = Pattern.compile("(?m)^## (.*)$");

  @Test
  void everyAlertLinksToItsSectionAndEverySectionHasItsAlert() {
    assertThat(found(HEADING, 1, PAGE)).containsExactlyElementsOf(NAMES);
    assertThat(
            found(
                Pattern.compile("runbook_url: .*/docs/operations/alerts\\.md#(.*)"),
                1,
                read(ALERTS)))
        .containsExactlyElementsOf(
            NAMES.stream().map(name -> name.toLowerCase(Locale.ROOT)).toList());
  }

  @Test
  void everySectionNamesTheSeverityOfItsAlert() {
    assertThat(found(Pattern.compile("(?m)^\\*\\*(Critical|Warning)\\.\\*\\*"), 1, PAGE))
        .usingElementComparator(String.CASE_INSENSITIVE_ORDER)
        .containsExactlyElementsOf(found(Pattern.compile("severity: (\\w+)"), 1, read(ALERTS)));
  }

  @Test
  void theFirstPageNamesEveryCause() {
    assertThat(
            found(Pattern.compile("(?m)^\\| `([a-z_`, ]+)` \\|"), 1, FIRST_PAGE).stream()
                .flatMap(causes -> Stream.of(causes.split("`, `"))))
        .containsExactlyInAnyOrderElementsOf(
            Stream.concat(
                    Stream.of(FailureCause.values()).map(FailureCause::word), Stream.of("no_shard"))
                .toList());
  }

  @Test
  void itsQueriesNameMetricsThatExist() {
    assertThat(MonitoringFiles.metrics(PAGE)).isNotEmpty();
    assertThat(
            Stream.of(MetricName.values())
                .flatMap(
                    metric ->
                        Stream.concat(
                            Stream.of(metric.prometheus()),
                            MonitoringFiles.series(metric).stream())))
        .containsAll(MonitoringFiles.metrics(PAGE + FIRST_PAGE));
  }
}
