package io.github.grpcidempotency.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class OptionsTest {
  @ParameterizedTest
  @ValueSource(strings = {"99999", "1,1001", "0", "-1"})
  void moreCallsAtOnceThanAMachineCanHoldAreRefused(String concurrency) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> read("--concurrency", concurrency).pace())
        .withMessageContaining("--concurrency must be");
  }

  @ParameterizedTest
  @ValueSource(strings = {"1", "1,64,1000"})
  void whatAMachineCanHoldIsAccepted(String concurrency) {
    assertThat(read("--concurrency", concurrency).pace().callers())
        .hasSize(concurrency.split(",", -1).length);
  }

  @Test
  void oneTableIsNotComparedWithOnePartition() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> read("--partitions", "1").pace())
        .withMessageContaining("--partitions must be at least 2");
  }

  @Test
  void tablesAreNotLoadedForNobody() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> read("--load-only").pace())
        .withMessageContaining("--data-dir");
    assertThat(read("--load-only", "--data-dir", "kept").pace().loadOnly()).isTrue();
  }

  private static Options read(String... arguments) {
    return CommandLine.populateCommand(new Options(), arguments);
  }
}
