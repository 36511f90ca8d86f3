package io.github.grpcidempotency.micrometer.monitoring;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.micrometer.MetricName;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The runbook knows the alerts, and the metrics. */
class RunbookTest {
  private static final String PAGE =
      MonitoringFiles.committed(Path.of("..", "docs", "operations", "alerts.md"));
  private static final Pattern HEADING = Pattern.compile("(?m)^## (.*)$");
  private static final Pattern SEVERITY = Pattern.compile("(?m)^\\*\\*(Critical|Warning)\\.\\*\\*");
  private static final Pattern METRIC = Pattern.compile("\\bidempotency_[a-z_]+");
  private static final Pattern PART_OF_TIMER = Pattern.compile("_(count|sum|max|bucket)$");

  @Test
  void everyAlertHasItsSectionAndEverySectionItsAlert() {
    assertThat(found(HEADING, PAGE, 1))
        .containsExactlyElementsOf(Alerts.all().stream().map(Alert::name).toList());
  }

  @Test
  void everySectionTellsTheSeverityOfItsAlert() {
    assertThat(found(SEVERITY, PAGE, 1))
        .containsExactlyElementsOf(
            Alerts.all().stream()
                .map(alert -> alert.severity().label())
                .map(label -> label.equals("critical") ? "Critical" : "Warning")
                .toList());
  }

  @Test
  void everySectionSaysWhoIsHurtHowToLookWhatToDoAndWhenToLeaveIt() {
    for (String part : List.of("**Who is hurt:**", "**Look:**", "**Do", "**Leave it:**")) {
      assertThat(found(Pattern.compile(Pattern.quote("- " + part)), PAGE, 0))
          .as(part)
          .hasSameSizeAs(Alerts.all());
    }
  }

  @Test
  void itsQueriesNameMetricsThatThereAre() {
    List<String> exported =
        List.of(MetricName.values()).stream().map(MetricName::prometheus).toList();
    assertThat(found(METRIC, PAGE, 0))
        .isNotEmpty()
        .allSatisfy(
            name ->
                assertThat(exported)
                    .containsAnyOf(name, PART_OF_TIMER.matcher(name).replaceAll("")));
  }

  private static List<String> found(Pattern pattern, String text, int group) {
    return pattern.matcher(text).results().map((MatchResult match) -> match.group(group)).toList();
  }
}
