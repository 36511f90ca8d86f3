package io.github.grpcidempotency.cli;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonObject;
import java.io.PrintWriter;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Writes results. */
record Output(PrintWriter out, int width) {
  private static final Gson GSON =
      new GsonBuilder().serializeNulls().disableHtmlEscaping().create();
  private static final int LABEL = 12;

  /** Writes one object on one line. */
  void json(JsonObject object) {
    out.println(GSON.toJson(object));
  }

  void table(Table table) {
    table.lines().forEach(out::println);
  }

  static Output to(Surroundings surroundings) {
    return new Output(surroundings.out(), surroundings.width());
  }

  /** Writes each value beside its label, over several lines if necessary. */
  void fields(Map<String, String> fields) {
    fields.forEach(
        (label, value) -> {
          String name = label;
          for (String line : wrapped(Printable.text(value), width - LABEL - 2)) {
            out.println("%-12s  %s".formatted(name, line).stripTrailing());
            name = "";
          }
        });
  }

  private static List<String> wrapped(String text, int width) {
    List<String> lines = new ArrayList<>();
    StringBuilder line = new StringBuilder();
    for (String word : text.split(" ", -1)) {
      if (!line.isEmpty() && line.length() + 1 + word.length() > width) {
        lines.add(line.toString());
        line.setLength(0);
      }
      line.append(line.isEmpty() ? "" : " ").append(word);
    }
    lines.add(line.toString());
    return lines;
  }

  void line(String line) {
    out.println(line);
  }

  /** Returns a time in UTC for people. */
  static String time(Instant time) {
    return time.truncatedTo(ChronoUnit.SECONDS).toString();
  }
}
