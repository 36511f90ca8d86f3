package io.github.grpcidempotency.conformance;

import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.github.grpcidempotency.conformance.v1.Level;
import io.github.grpcidempotency.conformance.v1.Section;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Prints results: a table for each section, with each case as soon as it has ended. */
record Report(Specification specification, PrintWriter out) {
  void begin(Section section) {
    out.println(section.getTitle());
    out.flush();
  }

  void add(Result result) {
    out.printf(
        "  %-11s %-7s %s%n",
        word(result.verdict()), result.tested().getSentence(), result.tested().getName());
    result.violations().forEach(violation -> out.println("                      " + violation));
    out.flush();
  }

  static void explain(PrintWriter out, Result result) {
    out.println();
    out.println(word(result.verdict()));
    result.violations().forEach(violation -> out.println("  " + violation));
    out.flush();
  }

  /**
   * Prints the end of a run.
   *
   * @param levels the levels whose cases were all tested
   */
  void end(List<Result> results, List<Level> levels) {
    out.println();
    long failed = count(results, Result.Verdict.FAILED);
    if (failed == 0 && !levels.isEmpty()) {
      out.println(conforms(results, levels));
    }
    out.printf(
        "%d passed, %d failed, %d not offered%n",
        count(results, Result.Verdict.PASSED), failed, count(results, Result.Verdict.NOT_OFFERED));
    if (failed > 0) {
      out.println("--explain CASE shows the sentence, what was sent, and what came back.");
    }
    out.flush();
  }

  /** Names the levels that the server offers. */
  private String conforms(List<Result> results, List<Level> levels) {
    List<Level> passed =
        levels.stream()
            .filter(
                level ->
                    results.stream()
                        .anyMatch(
                            result ->
                                result.tested().getLevel() == level
                                    && result.verdict() == Result.Verdict.PASSED))
            .toList();
    return "The server passed \"Idempotency keys for gRPC\" %s: %s."
        .formatted(specification.version(), names(passed));
  }

  String json(List<Result> results, List<Level> levels) {
    JsonObject report = new JsonObject();
    report.addProperty("specification", specification.version());
    report.addProperty("levels", names(levels));
    JsonArray cases = new JsonArray();
    for (Result result : results) {
      JsonObject each = new JsonObject();
      each.addProperty("name", result.tested().getName());
      each.addProperty("sentence", result.tested().getSentence());
      each.addProperty("level", lowerCase(result.tested().getLevel()));
      each.addProperty("verdict", word(result.verdict()));
      JsonArray violations = new JsonArray();
      result.violations().forEach(violations::add);
      each.add("violations", violations);
      cases.add(each);
    }
    report.add("cases", cases);
    return new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create().toJson(report)
        + "\n";
  }

  private static String names(List<Level> levels) {
    return levels.stream().map(Report::lowerCase).collect(Collectors.joining(", "));
  }

  private static String lowerCase(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  private static String word(Result.Verdict verdict) {
    return lowerCase(verdict).replace('_', ' ');
  }

  private static long count(List<Result> results, Result.Verdict verdict) {
    return results.stream().filter(result -> result.verdict() == verdict).count();
  }
}
