package io.github.grpcidempotency.cli;

import com.google.gson.JsonObject;
import io.github.grpcidempotency.admin.ActResult;
import java.util.Locale;
import java.util.UUID;

/**
 * The result of an action, and the next step for the operator.
 *
 * @param id the operation
 * @param act the action: {@code freed} or {@code forgotten}
 * @param result its result
 */
record Verdict(UUID id, String act, ActResult result) {
  ExitCode exitCode() {
    return switch (result) {
      case DONE, WOULD_BE_DONE -> ExitCode.OK;
      case NOT_FOUND -> ExitCode.NEGATIVE;
      case OWNER_LIVES, ALREADY_RECORDED, NOT_RECORDED, LOCKED -> ExitCode.REFUSED;
    };
  }

  String sentence() {
    return switch (result) {
      case DONE -> "%s was %s: the next call with its key runs the handler.".formatted(id, act);
      case WOULD_BE_DONE ->
          ("%s would be %s: the next call with its key would run the handler. Nothing was"
                  + " changed.")
              .formatted(id, act);
      case NOT_FOUND -> "%s is not recorded.".formatted(id);
      case OWNER_LIVES ->
          ("%s was not %s, because its lease has not ended. If show names a server that is gone,"
                  + " wait until the lease ends. Otherwise stop that server. With --even-if-live the"
                  + " handler's answer is lost, and a retry may run at the same time.")
              .formatted(id, act);
      case ALREADY_RECORDED ->
          ("%s was not %s, because its outcome is recorded. To let the next call run the handler"
                  + " again, forget the operation.")
              .formatted(id, act);
      case NOT_RECORDED ->
          ("%s was not %s, because it has no recorded outcome yet. To release its key, free the"
                  + " operation.")
              .formatted(id, act);
      case LOCKED ->
          ("%s was not %s, because a transaction has locked it, which is about to record it or"
                  + " to take it over. Show the operation again.")
              .formatted(id, act);
    };
  }

  JsonObject json() {
    JsonObject json = new JsonObject();
    json.addProperty("operation", id.toString());
    json.addProperty("result", result.name().toLowerCase(Locale.ROOT));
    return json;
  }

  /** Writes the result, or an error message, and returns the exit code. */
  int write(Surroundings surroundings, OutputOptions output) {
    if (output.isJson()) {
      Output.to(surroundings).json(json());
    } else if (exitCode() == ExitCode.OK) {
      surroundings.out().println(sentence());
    }
    if (exitCode() != ExitCode.OK) {
      surroundings.err().println(sentence());
    }
    return exitCode().code();
  }
}
