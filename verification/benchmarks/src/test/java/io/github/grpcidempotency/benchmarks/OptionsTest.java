package io.github.grpcidempotency.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.grpcidempotency.benchmarks.scenario.Pace;
import io.github.grpcidempotency.benchmarks.scenario.Scenario;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

class OptionsTest {
  @ParameterizedTest
  @ValueSource(strings = {"99999", "1,1001", "0", "-1"})
  void moreCallsAtOnceThanAMachineCanHoldAreRefused(String concurrency) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> chosen("--concurrency", concurrency))
        .withMessageContaining("--concurrency must be");
  }

  @ParameterizedTest
  @ValueSource(strings = {"1", "1,64,1000"})
  void concurrencyThatAMachineCanHoldIsAccepted(String concurrency) {
    assertThat(chosen("--concurrency", concurrency)).isNotEmpty();
  }

  @Test
  void oneTableIsNotComparedWithOnePartition() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> chosen("--partitions", "4,1"))
        .withMessageContaining("--partitions must be from 2");
  }

  @ParameterizedTest
  @CsvSource({
    "calls, --network-micros, 1000, calls across a network",
    "storm, --rounds, 3, cost of a call",
    "interceptor alone, --resource-types, 2, storm",
    "'record size,steady state', --retention, 20, steady state",
  })
  void anOptionWithoutEffectOnAChosenScenarioIsRefused(
      String only, String option, String value, String other) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> chosen("--only", only, option, value))
        .withMessageStartingWith(option + " has no effect on \"")
        .withMessageContaining("it has one on: ")
        .withMessageContaining(other);
  }

  @Test
  void anOptionThatHasAnEffectOnEachChosenScenarioIsAccepted() {
    assertThat(chosen("--only", "calls across a network", "--network-micros", "500", "--quick"))
        .extracting(Scenario::name)
        .containsExactly("calls across a network");
    assertThat(chosen("--network-micros", "500")).hasSameSizeAs(Benchmarks.SCENARIOS);
  }

  @Test
  void everyOptionOfAScenarioIsOneOfTheCommandLine() {
    Set<String> all =
        new CommandLine(new Benchmarks())
            .getCommandSpec().options().stream()
                .map(OptionSpec::longestName)
                .collect(Collectors.toSet());

    assertThat(all)
        .containsAll(
            Benchmarks.SCENARIOS.stream().flatMap(each -> each.options().stream()).toList());
  }

  private static List<Scenario> chosen(String... arguments) {
    Set<String> given =
        Arrays.stream(arguments).filter(each -> each.startsWith("--")).collect(Collectors.toSet());
    Options options = new Options();
    Pace pace = new Pace();
    CommandSpec spec = CommandSpec.create().addMixin("pace", CommandSpec.forAnnotatedObject(pace));
    spec.addMixin("options", CommandSpec.forAnnotatedObject(options));
    new CommandLine(spec).parseArgs(arguments);
    return options.chosenOf(Benchmarks.SCENARIOS, given, pace);
  }
}
