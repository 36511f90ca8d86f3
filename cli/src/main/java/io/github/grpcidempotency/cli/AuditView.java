package io.github.grpcidempotency.cli;

import com.google.gson.JsonObject;
import io.github.grpcidempotency.admin.AuditEntry;
import java.util.List;
import java.util.UUID;

/** Acts of operators, as operators see them. */
record AuditView(List<AuditEntry> entries) {
  Table table() {
    Table table =
        new Table(
            Table.Column.fixed("AT"),
            Table.Column.fixed("ACT"),
            new Table.Column("OPERATION", 1, 0),
            new Table.Column("ACTOR", 2, 12),
            new Table.Column("ROLE", 3, 10),
            new Table.Column("REASON", 0, 16));
    for (AuditEntry entry : entries) {
      table.add(
          Output.time(entry.at()),
          entry.act(),
          entry.operationId().map(UUID::toString).orElse("-"),
          entry.actor(),
          entry.role(),
          entry.reason());
    }
    return table;
  }

  /** Returns one line for an operation's own page. */
  static String line(AuditEntry entry) {
    return "%s %s by %s as %s: %s"
        .formatted(
            Output.time(entry.at()), entry.act(), entry.actor(), entry.role(), entry.reason());
  }

  static JsonObject json(AuditEntry entry) {
    JsonObject json = new JsonObject();
    json.addProperty("id", entry.id());
    json.addProperty("at", entry.at().toString());
    json.addProperty("act", entry.act());
    json.addProperty("operation", entry.operationId().map(UUID::toString).orElse(null));
    json.addProperty("actor", entry.actor());
    json.addProperty("role", entry.role());
    json.addProperty("reason", entry.reason());
    return json;
  }
}
