package io.github.grpcidempotency.micrometer.monitoring;

import static io.github.grpcidempotency.micrometer.monitoring.Promql.oneOf;
import static io.github.grpcidempotency.micrometer.monitoring.Promql.select;

import com.google.gson.GsonBuilder;
import io.github.grpcidempotency.micrometer.MetricName;
import io.github.grpcidempotency.micrometer.MetricTags;
import io.github.grpcidempotency.micrometer.monitoring.Panels.Row;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** The dashboard as a file that Grafana imports. */
final class GrafanaDashboard {
  private static final int COLUMNS = 3;
  private static final int WIDTH = 24 / COLUMNS;
  private static final int HEIGHT = 8;
  private static final Map<String, String> DATASOURCE =
      map("type", "prometheus", "uid", "${datasource}");

  private final List<Object> panels = new ArrayList<>();
  private int y;

  private GrafanaDashboard() {}

  /** Returns the file. */
  static String json() {
    GrafanaDashboard dashboard = new GrafanaDashboard();
    Panels.rows().forEach(dashboard::add);
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("title", "gRPC Idempotency");
    json.put("uid", "grpc-idempotency");
    json.put("tags", List.of("grpc", "idempotency"));
    json.put("schemaVersion", 39);
    json.put("editable", true);
    json.put("graphTooltip", 1); // one crosshair for all
    json.put("refresh", "30s");
    json.put("time", map("from", "now-3h", "to", "now"));
    json.put("templating", Map.of("list", variables()));
    json.put("panels", dashboard.panels);
    return new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create().toJson(json) + "\n";
  }

  private static List<Object> variables() {
    Map<String, Object> datasource = new LinkedHashMap<>();
    datasource.put("name", "datasource");
    datasource.put("label", "Data source");
    datasource.put("type", "datasource");
    datasource.put("query", "prometheus");
    return List.of(
        datasource,
        variable("job", "Service", labels(select(MetricName.LEASES_HELD, ""), "job")),
        variable(
            "instance",
            "Server",
            labels(select(MetricName.LEASES_HELD, oneOf("job", "$job")), "instance")),
        variable(
            "procedure",
            "Procedure",
            labels(select(MetricName.CLAIMS, oneOf("job", "$job")), MetricTags.PROCEDURE)));
  }

  private static String labels(String series, String label) {
    return "label_values(%s, %s)".formatted(series, label);
  }

  private static Object variable(String name, String label, String query) {
    Map<String, Object> variable = new LinkedHashMap<>();
    variable.put("name", name);
    variable.put("label", label);
    variable.put("type", "query");
    variable.put("datasource", DATASOURCE);
    variable.put("definition", query);
    variable.put("query", map("query", query, "refId", "StandardVariableQuery"));
    variable.put("refresh", 2); // whenever the range of time changes
    variable.put("sort", 1); // alphabetical
    variable.put("multi", true);
    variable.put("includeAll", true);
    variable.put("allValue", ".*");
    variable.put("current", map("text", List.of("All"), "value", List.of("$__all")));
    return variable;
  }

  private void add(Row row) {
    Map<String, Object> heading = new LinkedHashMap<>();
    heading.put("id", panels.size() + 1);
    heading.put("type", "row");
    heading.put("title", row.title());
    heading.put("collapsed", false);
    heading.put("gridPos", position(0, y, 24, 1));
    heading.put("panels", List.of());
    panels.add(heading);
    y++;
    for (int i = 0; i < row.panels().size(); i++) {
      panels.add(
          chart(
              row.panels().get(i),
              position(i % COLUMNS * WIDTH, y + i / COLUMNS * HEIGHT, WIDTH, HEIGHT)));
    }
    y += (row.panels().size() + COLUMNS - 1) / COLUMNS * HEIGHT;
  }

  private Object chart(Panel panel, Object position) {
    Map<String, Object> chart = new LinkedHashMap<>();
    chart.put("id", panels.size() + 1);
    chart.put("type", "timeseries");
    chart.put("title", panel.title());
    chart.put("description", panel.description());
    chart.put("gridPos", position);
    chart.put("datasource", DATASOURCE);
    Map<String, Object> defaults = new LinkedHashMap<>();
    defaults.put("unit", panel.unit().grafana());
    defaults.put("min", 0);
    if (panel.unit() == Panel.Unit.SHARE) {
      defaults.put("max", 1);
    }
    defaults.put("custom", map("fillOpacity", 10, "showPoints", "never"));
    chart.put("fieldConfig", Map.of("defaults", defaults));
    chart.put(
        "options",
        Map.of("legend", map("displayMode", "list", "placement", "bottom", "showLegend", true)));
    chart.put(
        "targets",
        IntStream.range(0, panel.queries().size())
            .mapToObj(i -> target(String.valueOf((char) ('A' + i)), panel.queries().get(i)))
            .toList());
    return chart;
  }

  private static Object target(String id, Panel.Query query) {
    Map<String, Object> target = new LinkedHashMap<>();
    target.put("refId", id);
    target.put("datasource", DATASOURCE);
    target.put("expr", query.expression());
    target.put("legendFormat", query.legend());
    target.put("range", true);
    return target;
  }

  private static Object position(int x, int y, int width, int height) {
    Map<String, Integer> position = new LinkedHashMap<>();
    position.put("h", height);
    position.put("w", width);
    position.put("x", x);
    position.put("y", y);
    return position;
  }

  /** Keeps its order, as {@code Map.of} does not. */
  @SuppressWarnings("unchecked")
  private static <V> Map<String, V> map(Object... keysAndValues) {
    Map<String, V> map = new LinkedHashMap<>();
    for (int i = 0; i < keysAndValues.length; i += 2) {
      map.put((String) keysAndValues[i], (V) keysAndValues[i + 1]);
    }
    return map;
  }
}
