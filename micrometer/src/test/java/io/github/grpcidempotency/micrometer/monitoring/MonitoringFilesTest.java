package io.github.grpcidempotency.micrometer.monitoring;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.micrometer.MetricName;
import io.github.grpcidempotency.micrometer.monitoring.AlertCase.Fired;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The committed dashboard and alerts are complete, and are what is made of the metrics' names. */
class MonitoringFilesTest {
  /** Set to write the files instead of comparing them. */
  private static final String WRITE = "monitoring.write";

  @Test
  void theCommittedFilesAreWhatIsMadeOfTheNames() {
    for (Map.Entry<Path, String> file : MonitoringFiles.made().entrySet()) {
      if (System.getProperty(WRITE) != null) {
        MonitoringFiles.write(file.getKey(), file.getValue());
      }
      assertThat(MonitoringFiles.committed(file.getKey()))
          .as("%s; -D%s writes it", file.getKey(), WRITE)
          .isEqualTo(file.getValue());
    }
  }

  @Test
  void theDashboardShowsEveryMetric() {
    String dashboard = GrafanaDashboard.json();
    assertThat(Stream.of(MetricName.values()).map(MetricName::prometheus))
        .allSatisfy(name -> assertThat(dashboard).contains(name));
  }

  @Test
  void everyAlertHasACaseInWhichItIsFiredAndOneInWhichItIsNot() {
    List<AlertCase> cases = AlertCases.all();
    assertThat(cases.stream().flatMap(each -> each.fired().stream()).map(Fired::alert))
        .containsAll(Alerts.all());
    assertThat(
            cases.stream()
                .map(AlertCase::silent)
                .filter(silent -> silent.size() == 1)
                .flatMap(List::stream))
        .containsAll(Alerts.all());
  }
}
