package io.github.grpcidempotency.example.monitoring;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What the tests need to know of a dashboard of Grafana.
 *
 * @param title the heading of the whole
 * @param rows from top to bottom
 */
public record Dashboard(String title, List<Row> rows) {

  /** Panels under a heading. */
  public record Row(String title, List<Panel> panels) {}

  /**
   * A chart.
   *
   * @param unit of its values, as Grafana names it
   */
  public record Panel(String title, String unit, List<Query> queries) {}

  /**
   * A query of a chart.
   *
   * @param expression with Grafana's variables in it
   * @param legend the name of each of its series, with {@code {{label}}} for the value of a label
   */
  public record Query(String expression, String legend) {
    /**
     * Returns what Grafana sends to Prometheus while everything is selected.
     *
     * @param rateInterval as Grafana derives it from the interval of scraping
     */
    public String expression(String rateInterval) {
      return expression
          .replace("$__rate_interval", rateInterval)
          .replace("$job", ".*")
          .replace("$instance", ".*")
          .replace("$procedure", ".*");
    }
  }

  /** Reads a dashboard whose panels stand below rows that are not collapsed. */
  public static Dashboard read(Path file) {
    try {
      JsonObject json = JsonParser.parseString(Files.readString(file, UTF_8)).getAsJsonObject();
      List<Row> rows = new ArrayList<>();
      for (JsonElement element : json.getAsJsonArray("panels")) {
        JsonObject panel = element.getAsJsonObject();
        if (text(panel, "type").equals("row")) {
          rows.add(new Row(text(panel, "title"), new ArrayList<>()));
        } else {
          rows.get(rows.size() - 1).panels().add(panel(panel));
        }
      }
      return new Dashboard(text(json, "title"), List.copyOf(rows));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static Panel panel(JsonObject panel) {
    List<Query> queries = new ArrayList<>();
    JsonArray targets = panel.getAsJsonArray("targets");
    for (JsonElement target : targets) {
      queries.add(
          new Query(
              text(target.getAsJsonObject(), "expr"),
              text(target.getAsJsonObject(), "legendFormat")));
    }
    JsonObject defaults = panel.getAsJsonObject("fieldConfig").getAsJsonObject("defaults");
    return new Panel(text(panel, "title"), text(defaults, "unit"), List.copyOf(queries));
  }

  private static String text(JsonObject object, String name) {
    return object.get(name).getAsString();
  }
}
