package io.github.grpcidempotency.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.github.grpcidempotency.admin.AuditEntry;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;

/** Formats the actions of operators. */
record AuditView(List<AuditEntry> entries) {
  Table table() {
    Table table = new Table("AT", "ACT", "RESULT", "OPERATION", "ACTOR", "REASON");
    for (AuditEntry entry : entries) {
      table.add(
          Output.time(entry.at()),
          entry.act(),
          result(entry),
          entry.operationId().map(UUID::toString).orElse("-"),
          entry.actor(),
          entry.reason());
    }
    return table;
  }

  /** Returns one line for the page of an operation. */
  static String line(AuditEntry entry) {
    return "%s %s (%s) by %s as %s%s: %s"
        .formatted(
            Output.time(entry.at()),
            entry.act(),
            result(entry),
            entry.actor(),
            entry.role(),
            entry.address().map(" from "::concat).orElse(""),
            entry.reason());
  }

  /** Returns what the audit contains about an operation that has no record any more. */
  static String operation(AuditEntry entry) {
    return "operation %s: %s%s%s, attempt %s%s%s%s"
        .formatted(
            entry.operationId().map(UUID::toString).orElse("-"),
            entry.procedure().orElse("unknown procedure"),
            named(" in tenant ", entry.tenant()) + named(" in project ", entry.project()),
            entry.userId().map(user -> " of " + user).orElse(""),
            entry.attempt().map(String::valueOf).orElse("unknown"),
            entry.servers().isEmpty() ? "" : " on " + String.join(", ", entry.servers()),
            entry.claimed().map(at -> ", claimed " + Output.time(at)).orElse(""),
            entry
                .recorded()
                .map(at -> ", recorded " + Output.time(at))
                .orElse(", without a recorded outcome"));
  }

  private static String named(String what, Optional<String> name) {
    return name.filter(given -> !given.isEmpty()).map(what::concat).orElse("");
  }

  private static String result(AuditEntry entry) {
    String word = entry.result().name().toLowerCase(Locale.ROOT);
    String deleted =
        entry.deleted() > 0 && entry.operationId().isEmpty()
            ? String.format(Locale.ROOT, ", %,d deleted", entry.deleted())
            : "";
    return word + (entry.forced() ? ", forced" : "") + deleted;
  }

  static JsonObject json(AuditEntry entry) {
    JsonObject json = new JsonObject();
    json.addProperty("id", entry.id());
    json.addProperty("at", entry.at().toString());
    json.addProperty("act", entry.act());
    json.addProperty("operation", entry.operationId().map(UUID::toString).orElse(null));
    json.addProperty("procedure", entry.procedure().orElse(null));
    json.addProperty("user", entry.userId().map(UUID::toString).orElse(null));
    json.addProperty("attempt", entry.attempt().orElse(null));
    json.addProperty("tenant", entry.tenant().orElse(null));
    json.addProperty("project", entry.project().orElse(null));
    json.addProperty("key_hash", entry.keyHash().orElse(null));
    JsonArray servers = new JsonArray();
    entry.servers().forEach(servers::add);
    json.add("servers", servers);
    json.addProperty("claimed", entry.claimed().map(Instant::toString).orElse(null));
    json.addProperty("recorded", entry.recorded().map(Instant::toString).orElse(null));
    json.addProperty("result", entry.result().name().toLowerCase(Locale.ROOT));
    json.addProperty("forced", entry.forced());
    json.addProperty("deleted", entry.deleted());
    json.addProperty("actor", entry.actor());
    json.addProperty("role", entry.role());
    json.addProperty("address", entry.address().orElse(null));
    json.addProperty("reason", entry.reason());
    return json;
  }
}
