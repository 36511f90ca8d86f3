package io.github.grpcidempotency.benchmarks.capacity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/**
 * The model still meets what was measured, and the page still says what the model says. If results
 * have changed: {@code mvn -q -pl benchmarks -am compile exec:exec -Dexec.args="capacity --write
 * docs/operations"}, and read the page's text again.
 */
class CapacityTest {
  private static final Path RESULTS = Path.of("results");
  private static final Path PAGES = Path.of("../docs/operations");

  private static Measurements measurements;

  @BeforeAll
  static void read() throws IOException {
    measurements = Measurements.read(RESULTS);
  }

  @Test
  void everyPredictionIsAsCloseAsThePageSays() {
    List<Check> checks = Checks.of(measurements, new Calibration(measurements));

    assertThat(checks).hasSizeGreaterThan(20).allMatch(Check::holds);
  }

  @ParameterizedTest
  @CsvSource({
    "postgresql-18/calls.csv, '\"calls\",\"bare handler\",16,\"database CPU (µs)\",213',"
        + " '\"calls\",\"bare handler\",16,\"database CPU (µs)\",313'",
    "record-size.csv, '\"heap and TOAST, packed\",357', '\"heap and TOAST, packed\",457'",
    "life-of-a-record.csv, '\"swept, after a checkpoint\",11385',"
        + " '\"swept, after a checkpoint\",14386'"
  })
  void aResultThatTheModelDoesNotMeetIsNoticed(
      String file, String from, String to, @TempDir Path other) throws IOException {
    copy(RESULTS, other);
    String text = Files.readString(other.resolve(file));
    assertThat(text.contains(from)).as(from).isTrue();
    Files.writeString(other.resolve(file), text.replace(from, to));

    Measurements changed = Measurements.read(other);

    assertThat(Checks.of(changed, new Calibration(changed))).anyMatch(check -> !check.holds());
  }

  @Test
  void thePageSaysWhatTheProgramSays() throws IOException {
    String page = Files.readString(PAGES.resolve("scale.md"));

    assertThat(page).isEqualTo(ScalePage.with(command().tables(measurements).all(), page));
  }

  @Test
  void thePlotsShowWhatTheProgramSays() {
    command()
        .drawings(measurements)
        .forEach((name, drawing) -> assertThat(PAGES.resolve(name)).hasContent(drawing));
  }

  @Test
  void aPageThatLeavesATableOutIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ScalePage.with(Map.of("limits", "| |"), "# Scale"))
        .withMessage("the page has no place for limits");
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> ScalePage.with(Map.of(), "<!-- capacity: more -->\n\n| |\n\n<!-- end -->"))
        .withMessage("there is no table more");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --peak=0.5           | --peak must be from 1.0
          --replays=-1         | --replays must be from 0.0
          --way=fast           | no way is called fast; there are bare, reserved, reserved-same-database
          --answer=big         | not bytes, such as 1024, 1KiB or 4TB: big
          --retention=1y       | no time, such as 30s, 15m, 12h or 7d: 1y
          --retention=0s       | --retention (in seconds) must be from 1.0
          --cores=0            | --cores must be more than 0
          --cores=NaN          | --cores must be more than 0
          --disk=0TB           | --disk must be more than 0
          --connections=1      | --connections must be from 20.0
          --headroom=2         | --headroom must be from 0.1 to 1
          --vacuum-cost-limit=0| --vacuum-cost-limit must be from 1.0 to 10,000
          """)
  void whatMakesNoSenseIsRefused(String argument, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> command(argument).tables(measurements).all())
        .withMessageContaining(message);
  }

  private static CapacityCommand command(String... arguments) {
    return CommandLine.populateCommand(new CapacityCommand(), arguments);
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Path copy = to.resolve(from.relativize(file));
        Files.createDirectories(copy.getParent());
        Files.copy(file, copy);
      }
    }
  }
}
