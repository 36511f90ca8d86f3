package io.github.grpcidempotency.cli;

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
 * An operation as operators see it.
 *
 * @param operation the operation
 * @param showKey whether to show its key, which lets who has it read the answer as its user
 */
record OperationView(OperationRecord operation, boolean showKey) {
  static String word(OperationState state) {
    return state.name().toLowerCase(Locale.ROOT);
  }

  /** Returns the object whose fields the reference page tells. */
  JsonObject json() {
    JsonObject json = new JsonObject();
    json.addProperty("operation", operation.id().toString());
    json.addProperty("state", word(operation.state()));
    json.addProperty("outcome_unknown", operation.outcomeUnknown());
    json.addProperty("procedure", operation.procedure());
    json.addProperty("user", operation.userId().toString());
    json.addProperty("namespace", operation.namespace());
    if (showKey) {
      json.addProperty("key", operation.key());
    }
    json.addProperty("attempt", operation.attempt());
    add(json, "server", operation.server());
    add(json, "trace", operation.trace());
    json.addProperty("created", operation.created().toString());
    add(json, "lease_expires", operation.leaseExpires().map(Instant::toString));
    add(json, "completed", operation.completed().map(Instant::toString));
    json.addProperty("expires", operation.expires().toString());
    add(json, "resource", operation.resource().map(OperationView::name));
    json.addProperty("answer_bytes", operation.answerBytes());
    json.addProperty("read", operation.read().toString());
    return json;
  }

  /** Returns what is known, under its labels. */
  Map<String, String> fields() {
    Map<String, String> fields = new LinkedHashMap<>();
    fields.put("operation", operation.id().toString());
    fields.put("state", word(operation.state()));
    fields.put("", meaning());
    fields.put("procedure", operation.procedure());
    fields.put("user", operation.userId().toString());
    fields.put("namespace", operation.namespace().isEmpty() ? "none" : operation.namespace());
    fields.put("key", showKey ? operation.key() : "not shown without --keys");
    fields.put("attempt", Integer.toString(operation.attempt()));
    fields.put("server", operation.server().orElseGet(this::noServer));
    fields.put("trace", operation.trace().orElse("not known"));
    fields.put("created", time(operation.created()));
    fields.put("lease", operation.leaseExpires().map(this::lease).orElse("none"));
    fields.put("completed", operation.completed().map(this::time).orElse("no"));
    fields.put("expires", time(operation.expires()));
    fields.put("resource", operation.resource().map(OperationView::name).orElse("none"));
    fields.put("answer", operation.answerBytes() + " bytes");
    return fields;
  }

  private String noServer() {
    return operation.leaseExpires().isPresent()
        ? "not known"
        : "none, as a transaction recorded it";
  }

  String age() {
    return DurationText.text(Duration.between(operation.created(), operation.read()));
  }

  /** Returns when its lease ends, or has ended, or when it expires if it has none. */
  String until() {
    Instant end =
        operation.completed().isPresent()
            ? operation.expires()
            : operation.leaseExpires().orElse(operation.expires());
    return relative(end);
  }

  private String lease(Instant end) {
    if (operation.completed().isPresent()) {
      return "over, as it is recorded";
    }
    return (end.isAfter(operation.read()) ? "lives until " : "ended at ") + time(end);
  }

  private String time(Instant time) {
    return "%s (%s)".formatted(Output.time(time), relative(time));
  }

  private String relative(Instant time) {
    Duration away = Duration.between(operation.read(), time);
    String length = DurationText.text(away);
    return away.isNegative() ? length + " ago" : "in " + length;
  }

  private String meaning() {
    return switch (operation.state()) {
      case RUNNING -> "Its handler runs. Retries wait, or are refused as in progress.";
      case STUCK ->
          operation.outcomeUnknown()
              ? "Its handler has ended without saying whether its effect happened, and its lease"
                  + " has ended too: the next retry of the same request runs it again. Look for"
                  + " the effect first."
              : "Its lease has ended without an outcome, so its server is gone or cut off. The next"
                  + " retry of the same request takes it over; if none comes, it can be freed.";
      case UNKNOWN ->
          "Its handler has ended, and whether its effect happened is not known. Retries are refused"
              + " until its lease ends. Look for the effect, then free it.";
      case COMPLETED -> "Its response is recorded, and answers retries until it expires.";
      case FAILED -> "Its error is recorded, and answers retries until it expires.";
      case EXPIRED -> "It has expired and waits for the sweep. A call with its key runs as new.";
    };
  }

  private static String name(OperationRecord.Resource resource) {
    return resource.type() + "/" + resource.id();
  }

  private static void add(JsonObject json, String name, Optional<String> value) {
    value.ifPresentOrElse(
        text -> json.addProperty(name, text), () -> json.add(name, JsonNull.INSTANCE));
  }
}
