package io.github.grpcidempotency.micrometer;

import static io.github.grpcidempotency.micrometer.MonitoringFiles.ALERTS;
import static io.github.grpcidempotency.micrometer.MonitoringFiles.ALERT_TESTS;
import static io.github.grpcidempotency.micrometer.MonitoringFiles.DASHBOARD;
import static io.github.grpcidempotency.micrometer.MonitoringFiles.alertTests;
import static io.github.grpcidempotency.micrometer.MonitoringFiles.found;
import static io.github.grpcidempotency.micrometer.MonitoringFiles.metrics;
import static io.github.grpcidempotency.micrometer.MonitoringFiles.read;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.event.RefusalReason;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The dashboard and the alerts name what the code exports. */
class MonitoringFilesTest {
  private static final Map<String, MetricName> EXPORTED =
      Stream.of(MetricName.values())
          .flatMap(
              metric ->
                  MonitoringFiles.series(metric).stream().map(name -> Map.entry(name, metric)))
          .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));

  private static final Pattern REASON = Pattern.compile("reason=\\\\?\"([A-Z_]+)");
  private static final Pattern GROUPING = Pattern.compile("by \\(([a-z, ]+)\\)");

  /** Without the label of a histogram's buckets. */
  private static final Pattern LABEL = Pattern.compile("\\b(?!le=)([a-z]+)=\"");

  private static final Pattern TESTED_SERIES =
      Pattern.compile("- series: '(?:nan:)?(idempotency_[a-z_]+)(\\{.*})'");
  private static final Pattern ALERT = Pattern.compile("- alert: (\\w+)");
  private static final Pattern FIRED =
      Pattern.compile("alertname: (\\w+)\\n.*\\n +exp_alerts:( [&*]\\w+)?\\n");
  private static final Pattern SILENT =
      Pattern.compile("alertname: (\\w+)\\n.*\\n +exp_alerts: \\[]");

  private static final Pattern ENDED =
      Pattern.compile("changes.*ALERTS\\{alertname=\"(\\w+)\", alertstate=\"firing\"}");

  static List<Path> files() {
    return Stream.concat(Stream.of(DASHBOARD, ALERTS), ALERT_TESTS.stream()).toList();
  }

  @ParameterizedTest
  @MethodSource("files")
  void aFileNamesOnlyMetricsAndReasonsThatExist(Path file) {
    assertThat(EXPORTED.keySet()).containsAll(metrics(read(file)));
    assertThat(Stream.of(RefusalReason.values()).map(RefusalReason::wireName))
        .containsAll(found(REASON, 1, read(file)));
  }

  @Test
  void theDashboardShowsEveryMetric() {
    assertThat(metrics(String.join("\n", MonitoringFiles.queries())).stream().map(EXPORTED::get))
        .contains(MetricName.values());
  }

  @Test
  void aQueryOfTheDashboardGroupsByLabelsOfItsMetrics() {
    assertThat(MonitoringFiles.queries())
        .allSatisfy(
            query -> {
              List<String> labels =
                  Stream.concat(
                          Stream.of("job", "instance", "le"),
                          metrics(query).stream().flatMap(name -> tags(name).stream()))
                      .toList();
              assertThat(labels)
                  .containsAll(
                      found(GROUPING, 1, query).stream()
                          .flatMap(by -> Stream.of(by.split(", ")))
                          .toList());
            });
  }

  /** Or {@code promtool} would test rules on series that no server exports. */
  @Test
  void theAlertsAreTestedOnSeriesWithTheLabelsThatTheCodeExports() {
    assertThat(TESTED_SERIES.matcher(alertTests()).results())
        .isNotEmpty()
        .allSatisfy(
            series ->
                assertThat(found(LABEL, 1, series.group(2)))
                    .containsExactlyInAnyOrderElementsOf(
                        Stream.concat(Stream.of("job", "instance"), tags(series.group(1)).stream())
                            .toList()));
  }

  @Test
  void everyAlertHasACaseInWhichItIsFiredAndOneInWhichItIsNot() {
    List<String> alerts = found(ALERT, 1, read(ALERTS));
    assertThat(alerts).isNotEmpty();
    assertThat(found(FIRED, 1, alertTests())).containsAll(alerts);
    assertThat(found(SILENT, 1, alertTests())).containsAll(alerts);
  }

  @Test
  void everyAlertHasACaseThatCountsHowOftenItIsFiredInATroubleThatEnds() {
    assertThat(found(ENDED, 1, alertTests())).containsAll(found(ALERT, 1, read(ALERTS)));
  }

  private static List<String> tags(String metric) {
    return Objects.requireNonNull(EXPORTED.get(metric), metric).tags();
  }
}
