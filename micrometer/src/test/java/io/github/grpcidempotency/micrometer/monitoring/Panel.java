package io.github.grpcidempotency.micrometer.monitoring;

import java.util.List;

/**
 * A chart of the dashboard.
 *
 * @param unit of its values, as Grafana names it
 */
record Panel(String title, String description, Unit unit, List<Query> queries) {
  /** A unit of Grafana. */
  enum Unit {
    PER_SECOND("reqps"),
    PER_MINUTE("cpm"),
    SECONDS("s"),
    BYTES("bytes"),
    SHARE("percentunit"),
    NUMBER("short");

    private final String grafana;

    Unit(String grafana) {
      this.grafana = grafana;
    }

    String grafana() {
      return grafana;
    }
  }

  /**
   * A query of a chart.
   *
   * @param legend names each of its series; {@code {{label}}} stands for a label's value
   */
  record Query(String legend, String expression) {}

  Panel(String title, String description, Unit unit, Query... queries) {
    this(title, description, unit, List.of(queries));
  }
}
