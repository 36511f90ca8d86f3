package io.github.grpcidempotency.example;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import org.junit.jupiter.api.Test;

/** The demo's files, one for each feature, all compiled and run. */
class DemoTest {
  @Test
  void everySceneHoldsAndTheProgramExitsWithZero() {
    PrintStream before = System.out;
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    System.setOut(new PrintStream(out, true, UTF_8));
    try {
      assertThat(Example.run()).isZero();
    } finally {
      System.setOut(before);
    }
    assertThat(out.toString(UTF_8).strip().lines()).last().isEqualTo("All is well: 19 of 19 held.");
  }
}
