package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.store.SetupException;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Lists the problems of the set-up. The text of each problem contains its remedy. */
final class SetupFailureAnalyzer extends AbstractFailureAnalyzer<SetupException> {
  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, SetupException cause) {
    List<String> problems = cause.problems();
    return new FailureAnalysis(
        "Idempotency cannot be set up:\n\n" + numbered(problems),
        "Correct each problem as its text describes. The page \"Spring Boot\" of the documentation"
            + " lists the starter's properties and beans.",
        cause);
  }

  private static String numbered(List<String> lines) {
    return IntStream.range(0, lines.size())
        .mapToObj(line -> "  %d. %s".formatted(line + 1, lines.get(line)))
        .collect(Collectors.joining("\n"));
  }
}
