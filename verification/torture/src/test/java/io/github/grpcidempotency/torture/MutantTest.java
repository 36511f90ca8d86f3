package io.github.grpcidempotency.torture;

import static org.assertj.core.api.Assertions.assertThatCode;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The edits name lines of the library, which may have moved since. */
class MutantTest {
  @ParameterizedTest
  @EnumSource
  void everyFaultStillFitsTheLibrary(SeededFault fault) {
    assertThatCode(() -> fault.build(Path.of("target", "mutants", fault.name())))
        .doesNotThrowAnyException();
  }

  @ParameterizedTest
  @EnumSource
  void everyFaultOfAFailoverStillFitsTheLibrary(FailoverFault fault) {
    assertThatCode(() -> fault.build(Path.of("target", "mutants", fault.name())))
        .doesNotThrowAnyException();
  }

  @Test
  void theMadeUpNextVersionStillFitsTheLibrary() {
    assertThatCode(() -> LibraryVersion.next(Path.of("target", "mutants", "next")))
        .doesNotThrowAnyException();
  }
}
