package io.github.grpcidempotency.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import io.github.grpcidempotency.admin.OperationRecord;
import io.github.grpcidempotency.admin.OperationState;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Formats an operation.
 *
 * @param operation the operation
 * @param showKey whether to show its key; with the key and its user's rights, a caller can read the
 *     answer
 */
record OperationView(OperationRecord operation, boolean showKey) {
  static String word(OperationState state) {
    return state.name().toLowerCase(Locale.ROOT);
  }

  /** Returns the JSON object that the reference page describes. */
  JsonObject json() {
    JsonObject json = new JsonObject();
    json.addProperty("operation", operation.id().toString());
    json.addProperty("state", word(operation.state()));
    json.addProperty("outcome_unknown", operation.outcomeUnknown());
    json.addProperty("procedure", operation.procedure());
    json.addProperty("user", operation.userId().toString());
    json.addProperty("tenant", operation.tenant());
    json.addProperty("project", operation.project());
    if (showKey) {
      json.addProperty("key", operation.key());
    }
    json.addProperty("attempt", operation.attempt());
    add(json, "server", operation.server());
    JsonArray takeovers = new JsonArray();
    for (OperationRecord.Takeover takeover : operation.takeovers()) {
      JsonObject former = new JsonObject();
      former.addProperty("server", takeover.server());
      former.addProperty("at", takeover.at().toString());
      takeovers.add(former);
    }
    json.add("takeovers", takeovers);
    json.addProperty(
        "execution", operation.leaseExpires().isPresent() ? "reserved" : "transactional");
    add(json, "trace", operation.trace());
    json.addProperty("created", operation.created().toString());
    add(json, "lease_expires", operation.leaseExpires().map(Instant::toString));
    add(json, "completed", operation.completed().map(Instant::toString));
    json.addProperty("expires", operation.expires().toString());
    add(json, "retained", operation.retained().map(Instant::toString));
    json.addProperty("lease_is_ahead", operation.leaseIsAhead());
    add(json, "resource", operation.resource().map(OperationView::name));
    json.addProperty("answer_bytes", operation.answerBytes());
    json.addProperty("read", operation.read().toString());
    return json;
  }

  /** Returns the values, by label. */
  Map<String, String> fields() {
    Map<String, String> fields = new LinkedHashMap<>();
    fields.put("operation", operation.id().toString());
    fields.put("state", word(operation.state()));
    fields.put("", operation.meaning());
    fields.put("procedure", operation.procedure());
    fields.put("user", operation.userId().toString());
    fields.put("tenant", operation.tenant().isEmpty() ? "none" : operation.tenant());
    fields.put("project", operation.project().isEmpty() ? "none" : operation.project());
    fields.put("key", showKey ? operation.key() : "not shown without --keys");
    fields.put("execution", execution());
    fields.put("attempt", Integer.toString(operation.attempt()));
    for (int i = 0; i < operation.takeovers().size(); i++) {
      OperationRecord.Takeover takeover = operation.takeovers().get(i);
      fields.put(
          "attempt " + (i + 1),
          "on %s, taken over at %s".formatted(takeover.server(), time(takeover.at())));
    }
    fields.put("server", operation.server().orElseGet(this::noServer));
    fields.put("trace", operation.trace().orElse("not known"));
    fields.put("created", time(operation.created()));
    fields.put("lease", operation.leaseExpires().map(this::lease).orElse("none"));
    fields.put("completed", operation.completed().map(this::time).orElse("no"));
    fields.put("expires", time(operation.expires()));
    fields.put("replays", replays());
    fields.put("resource", operation.resource().map(OperationView::name).orElse("none"));
    fields.put("answer", operation.answerBytes() + " bytes");
    return fields;
  }

  private String execution() {
    return operation.leaseExpires().isPresent()
        ? "reserved: the row was there before the handler ran"
        : "transactional: the row was committed together with the handler's effect";
  }

  private String replays() {
    return operation
        .retained()
        .map(last -> "the last one that kept the record: " + time(last))
        .orElse("not in the table; search the service's log for the operation");
  }

  private String noServer() {
    return operation.leaseExpires().isPresent()
        ? "not known"
        : "none, because a transaction recorded it";
  }

  String age() {
    return DurationText.text(operation.age());
  }

  /** Returns the end of its lease, or its expiry if it has no lease. */
  String until() {
    Instant end =
        operation.completed().isPresent()
            ? operation.expires()
            : operation.leaseExpires().orElse(operation.expires());
    return relative(end);
  }

  private String lease(Instant end) {
    if (operation.completed().isPresent()) {
      return "ended, because the outcome is recorded";
    }
    return (end.isAfter(operation.read()) ? "valid until " : "ended at ") + time(end);
  }

  private String time(Instant time) {
    return "%s (%s)".formatted(Output.time(time), relative(time));
  }

  private String relative(Instant time) {
    Duration away = Duration.between(operation.read(), time);
    String length = DurationText.text(away);
    return away.isNegative() ? length + " ago" : "in " + length;
  }

  private static String name(OperationRecord.Resource resource) {
    return resource.type() + "/" + resource.id();
  }

  private static void add(JsonObject json, String name, Optional<String> value) {
    value.ifPresentOrElse(
        text -> json.addProperty(name, text), () -> json.add(name, JsonNull.INSTANCE));
  }
}
