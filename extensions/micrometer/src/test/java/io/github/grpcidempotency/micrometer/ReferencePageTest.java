package io.github.grpcidempotency.micrometer;

import static java.util.stream.Collectors.toCollection;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.micrometer.ReferencePage.Family;
import io.github.grpcidempotency.micrometer.ReferencePage.Row;
import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** What is exported is what the reference page documents, and what {@link MetricName} lists. */
class ReferencePageTest {
  private static final Pattern LABEL = Pattern.compile("([a-z_]+)=\"");

  private final ReferencePage page;
  private final SimpleMeterRegistry simple = new SimpleMeterRegistry();
  private final PrometheusMeterRegistry prometheus =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final DatabaseMetrics[] databases = {fill(simple), fill(prometheus)};

  ReferencePageTest() throws IOException {
    page = ReferencePage.read();
  }

  @AfterEach
  void stop() {
    Arrays.stream(databases).forEach(DatabaseMetrics::close);
  }

  /** Has everything exported that can be. */
  private static DatabaseMetrics fill(MeterRegistry registry) {
    IdempotencyMetrics metrics = IdempotencyMetrics.builder(registry).build();
    SampleEvents.ofEachKind(SampleEvents.call(SampleEvents.CREATE)).forEach(metrics::onEvent);
    return DatabaseMetrics.builder(registry, new PGSimpleDataSource(), "idempotency")
        .work(new InMemoryIdempotencyStore(), DatabaseMetricsTest.WITH_OUTBOX)
        .start();
  }

  @Test
  void thePageDocumentsWhatIsExportedAndNothingElse() {
    Set<Row> exported = simple.getMeters().stream().map(ReferencePageTest::row).collect(toSet());

    assertThat(page.rows()).containsExactlyInAnyOrderElementsOf(exported);
  }

  @Test
  void thePageSpellsNamesAsPrometheusDoes() {
    Set<Family> exported =
        prometheus
            .scrape()
            .lines()
            .filter(line -> line.startsWith("idempotency_"))
            .map(ReferencePageTest::family)
            .collect(toSet());

    assertThat(page.families()).containsExactlyInAnyOrderElementsOf(exported);
  }

  @Test
  void theListOfNamesIsWhatIsExportedAndNothingElse() {
    Stream<Row> listed =
        Arrays.stream(MetricName.values())
            .map(
                name ->
                    new Row(
                        name.meter(),
                        name.kind().name().toLowerCase(Locale.ROOT),
                        name.unit(),
                        new TreeSet<>(name.tags()),
                        name.description()));

    assertThat(simple.getMeters().stream().map(ReferencePageTest::row).collect(toSet()))
        .containsExactlyInAnyOrderElementsOf(listed.toList());
  }

  @Test
  void theListOfNamesSpellsThemAsPrometheusDoes() {
    assertThat(page.families())
        .extracting(Family::name)
        .containsExactlyInAnyOrder(
            Arrays.stream(MetricName.values()).map(MetricName::prometheus).toArray(String[]::new));
  }

  @Test
  void everyTagIsExplained() {
    assertThat(
            Stream.concat(
                Arrays.stream(MetricName.values()).flatMap(name -> name.tags().stream()),
                Stream.of(MetricTags.SHARD)))
        .allMatch(page::explains);
  }

  private static Row row(Meter meter) {
    Meter.Id id = meter.getId();
    return new Row(
        id.getName(),
        id.getType().name().toLowerCase(Locale.ROOT),
        Objects.requireNonNullElse(id.getBaseUnit(), ""),
        id.getTags().stream().map(Tag::getKey).collect(toCollection(TreeSet::new)),
        Objects.requireNonNullElse(id.getDescription(), ""));
  }

  /** Reads a sample's line; a timer has three kinds of samples. */
  private static Family family(String line) {
    String name = line.split("[{ ]", 2)[0].replaceFirst("_seconds_(count|sum|max)$", "_seconds");
    Set<String> labels =
        LABEL
            .matcher(line)
            .results()
            .map(found -> found.group(1))
            .collect(toCollection(TreeSet::new));
    return new Family(name, labels);
  }
}
