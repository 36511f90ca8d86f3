package io.github.grpcidempotency.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Breaks the library on purpose, one way at a time, and expects the checker to see it. */
class SeededFaultTest {
  private static TorturePostgres postgres;

  @BeforeAll
  static void start() {
    postgres = TorturePostgres.start();
  }

  @AfterAll
  static void stop() {
    postgres.close();
  }

  @ParameterizedTest
  @EnumSource(names = {"NO_HASH_CHECK", "TAKEOVER_OF_THE_LIVING", "NO_LOCK_AND_NO_UNIQUE_KEY"})
  void aFaultThatShowsWithoutACrashIsCaught(SeededFault fault) throws InterruptedException {
    isCaught(fault);
  }

  @ParameterizedTest
  @EnumSource
  @Tag("torture")
  void everyFaultIsCaught(SeededFault fault) throws InterruptedException {
    isCaught(fault);
  }

  @SuppressWarnings("SystemOut") // whoever waits for a long run reads it
  private static void isCaught(SeededFault fault) throws InterruptedException {
    TortureDatabase database = new TortureDatabase(postgres);
    fault.sabotage().ifPresent(database::run);
    Mutant mutant = fault.build(Path.of("target", "torture", fault.name()));
    TortureReport report =
        TortureReport.run(
            fault.plan(), 1, database, Optional.of(mutant), fault.name(), fault.name());
    System.out.printf("%s breaks %s%n", fault, report.broken());
    assertThat(report.broken().keySet()).containsAnyElementsOf(fault.broken());
  }
}
