package io.github.grpcidempotency.example;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DemoTest {
  @Test
  void theWholeStoryHoldsAndTheProgramExitsWithZero() {
    EndedProgram demo = EndedProgram.of();
    assertThat(demo.exitCode()).isZero();
    assertThat(demo.out().lines()).last().asString().startsWith("All is well");
    assertThat(demo.out().lines()).filteredOn(line -> line.contains("[ok]")).hasSize(92);
    assertThat(demo.err().lines())
        .filteredOn(line -> !line.contains(" decision - ")) // it provokes every kind of refusal
        .singleElement()
        .asString()
        .contains("WARN", "The cloud provider has sold nothing for certain");
  }
}
