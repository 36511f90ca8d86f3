package io.github.grpcidempotency.quickstart;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.test.RepositoryRoot;
import io.github.grpcidempotency.test.Snippets;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import smallest.Smallest;

/** What the programs print is what the page about them shows, but for generated ids. */
class OutputTest {
  @Test
  void theSmallestExamplePrintsWhatThePageShows() throws Exception {
    String output =
        outputOf(
            () -> {
              Smallest.main();
              return true;
            });

    assertThat(output).isEqualTo(shown().get(0));
  }

  @Test
  void theQuickstartPrintsWhatThePageShows() throws Exception {
    String output = outputOf(() -> Quickstart.play(Database.embedded()));

    assertThat(output).contains(shown().get(1));
  }

  private static List<String> shown() throws IOException {
    return Snippets.of(RepositoryRoot.resolve("docs/quickstart.md"), "text").stream()
        .map(OutputTest::withoutIds)
        .toList();
  }

  private static String outputOf(Callable<?> program) throws Exception {
    PrintStream console = System.out;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setOut(new PrintStream(printed, true, UTF_8));
    try {
      program.call();
    } finally {
      System.setOut(console);
    }
    return withoutIds(printed.toString(UTF_8));
  }

  private static String withoutIds(String text) {
    return text.replaceAll("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "…");
  }
}
