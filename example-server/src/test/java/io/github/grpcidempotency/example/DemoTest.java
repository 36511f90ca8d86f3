package io.github.grpcidempotency.example;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DemoTest {
  @Test
  void theWholeStoryHoldsAndTheProgramExitsWithZero() {
    try (ProgramProcess demo = ProgramProcess.start()) {
      assertThat(demo.awaitExit()).isZero();
      assertThat(demo.out()).last().asString().startsWith("All is well");
      assertThat(demo.out()).filteredOn(line -> line.contains("[ok]")).hasSize(63);
      assertThat(demo.err()).isEmpty();
    }
  }
}
