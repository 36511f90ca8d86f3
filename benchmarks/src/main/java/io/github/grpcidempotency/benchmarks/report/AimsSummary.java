package io.github.grpcidempotency.benchmarks.report;

import java.util.List;

/** How many aims were met, and which were not. */
final class AimsSummary {
  private AimsSummary() {}

  static String of(List<Result> results) {
    List<Result> aimed = results.stream().filter(result -> result.aim().isPresent()).toList();
    if (aimed.isEmpty()) {
      return "";
    }
    List<Result> missed =
        aimed.stream().filter(result -> !result.aim().orElseThrow().isMetBy(result)).toList();
    StringBuilder text = new StringBuilder();
    text.append("%d of %d aims met.%n".formatted(aimed.size() - missed.size(), aimed.size()));
    for (Result result : missed) {
      text.append(
          "- missed: %s, %s, %d calls, %s: %s, aim %s%n"
              .formatted(
                  result.scenario(),
                  result.variant(),
                  result.calls(),
                  result.metric(),
                  Numbers.plain(result.value()),
                  result.aim().orElseThrow()));
    }
    return text.toString();
  }
}
