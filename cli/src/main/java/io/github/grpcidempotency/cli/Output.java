package io.github.grpcidempotency.cli;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonObject;
import java.io.PrintWriter;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;

/** Writes results. */
record Output(PrintWriter out) {
  private static final Gson GSON =
      new GsonBuilder().serializeNulls().disableHtmlEscaping().create();
  private static final int LABEL = 12;

  /** Writes one object on one line. */
  void json(JsonObject object) {
    out.println(GSON.toJson(object));
  }

  void table(Table table, int width) {
    table.lines(width).forEach(out::println);
  }

  /** Writes a line for each label. */
  void fields(Map<String, String> fields) {
    fields.forEach(
        (label, value) ->
            out.println(TextWidth.fit(label, LABEL) + "  " + TextWidth.printable(value)));
  }

  void line(String line) {
    out.println(line);
  }

  /** A point in time as people read it, in UTC. */
  static String time(Instant time) {
    return time.truncatedTo(ChronoUnit.SECONDS).toString();
  }
}
