package io.github.grpcidempotency.torture;

import static org.assertj.core.api.Assertions.assertThatCode;

import io.github.grpcidempotency.torture.Mutant.Edit;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The edits name lines of the library, which may have moved since. */
class MutantTest {
  /**
   * Faults of different files are compiled together, because each start of the compiler is slow.
   */
  @Test
  void everyFaultStillFitsTheLibrary() {
    List<List<Edit>> left =
        Stream.of(
                Stream.of(SeededFault.PAST_THE_START_UP_CHECKS),
                Arrays.stream(SeededFault.values()).map(SeededFault::edits),
                Arrays.stream(FailoverFault.values()).map(FailoverFault::edits))
            .flatMap(edits -> edits)
            .toList();

    for (int run = 1; !left.isEmpty(); run++) {
      Path directory = Path.of("target", "mutants", Integer.toString(run));
      List<Edit> together = new ArrayList<>();
      List<List<Edit>> later = new ArrayList<>();
      for (List<Edit> fault : left) {
        if (fault.stream().anyMatch(edit -> together.stream().anyMatch(edit::isOfTheFileOf))) {
          later.add(fault);
        } else {
          together.addAll(fault);
        }
      }
      assertThatCode(() -> Mutant.of(together, List.of(), directory)).doesNotThrowAnyException();
      left = later;
    }
  }

  @Test
  void theMadeUpNextVersionStillFitsTheLibrary() {
    assertThatCode(() -> LibraryVersion.next(Path.of("target", "mutants", "next")))
        .doesNotThrowAnyException();
  }
}
