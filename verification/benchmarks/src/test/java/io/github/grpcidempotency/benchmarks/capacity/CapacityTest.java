package io.github.grpcidempotency.benchmarks.capacity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/**
 * The model still agrees with what was measured, and the page still says what the model says. If
 * results have changed: {@code mvn -q -pl verification/benchmarks -am test-compile exec:exec
 * -Dexec.args="capacity --write docs/operations/capacity.md"}, and read the page's text again.
 */
class CapacityTest {
  private static final Path RESULTS = Path.of("results");
  private static final Path PAGE = Path.of("../../docs/operations/capacity.md");

  @Test
  void everyPredictionIsAsCloseAsThePageSays() {
    assertThat(Check.of(new Model(new Measurements(RESULTS))))
        .hasSizeGreaterThan(10)
        .allMatch(Check::holds);
  }

  @ParameterizedTest
  @CsvSource({
    "calls.csv, '\"calls\",\"bare handler\",16,\"database CPU (µs)\",213',"
        + " '\"calls\",\"bare handler\",16,\"database CPU (µs)\",313'",
    "life-of-a-record.csv, '\"made in its place\",18', '\"made in its place\",28'"
  })
  void aResultThatTheModelDoesNotPredictIsNoticed(
      String file, String from, String to, @TempDir Path other) throws IOException {
    copy(RESULTS, other);
    String text = Files.readString(other.resolve(file));
    assertThat(text.contains(from)).as(from).isTrue();
    Files.writeString(other.resolve(file), text.replace(from, to));

    assertThat(Check.of(new Model(new Measurements(other)))).anyMatch(check -> !check.holds());
  }

  @Test
  void thePageSaysWhatTheProgramSays() throws IOException {
    String page = Files.readString(PAGE);

    assertThat(page).isEqualTo(command().page(RESULTS).in(page));
  }

  @Test
  void aPageThatLeavesATableOutIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> command().page(RESULTS).in("# Capacity"))
        .withMessageContaining("the page has no place for [needs by rate");
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> command().page(RESULTS).in("<!-- capacity: more -->\n\n| |\n\n<!-- end -->"))
        .withMessage("there is no table more");
  }

  @ParameterizedTest
  @CsvSource({
    "--answer=0, --answer must be more than 0",
    "--retention=PT0S, --retention must be more than 0"
  })
  void anImpossibleLoadIsRefused(String argument, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> command(argument).page(RESULTS))
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
