package io.github.grpcidempotency.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.grpcidempotency.benchmarks.scenario.Pace;
import io.github.grpcidempotency.benchmarks.scenario.Scenario;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

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
  void onlyTheNamedScenariosAreChosen() {
    assertThat(chosen("--only", "calls across a network,cost of a call"))
        .extracting(Scenario::name)
        .containsExactly("cost of a call", "calls across a network");
    assertThat(chosen()).hasSameSizeAs(Benchmarks.SCENARIOS);
  }

  @Test
  void aScenarioThatDoesNotExistIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> chosen("--only", "no such one"))
        .withMessageStartingWith("no scenario is called no such one; there are ");
  }

  @ParameterizedTest
  @CsvSource({"calls, --network-micros, 1000", "cost of a call, --concurrency, 16"})
  void anOptionWithoutEffectOnTheChosenScenariosIsRefused(
      String only, String option, String value) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> chosen("--only", only, option, value))
        .withMessageStartingWith(option + " has no effect on " + only);
    assertThat(chosen(option, value)).isNotEmpty();
  }

  private static List<Scenario> chosen(String... arguments) {
    Options options = new Options();
    Pace pace = new Pace();
    CommandSpec spec = CommandSpec.create().addMixin("pace", CommandSpec.forAnnotatedObject(pace));
    spec.addMixin("options", CommandSpec.forAnnotatedObject(options));
    new CommandLine(spec).parseArgs(arguments);
    return options.chosenOf(Benchmarks.SCENARIOS, pace);
  }
}
