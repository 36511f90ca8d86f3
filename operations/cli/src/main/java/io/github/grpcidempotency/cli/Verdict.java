package io.github.grpcidempotency.cli;

import com.google.gson.JsonObject;
import io.github.grpcidempotency.admin.ActResult;
import java.util.Locale;
import java.util.UUID;

/**
 * What became of an act, and what the operator does next.
 *
 * @param id the operation
 * @param act what was to be done: {@code freed} or {@code forgotten}
 * @param result what became of it
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
      case DONE -> "%s is %s: the next call with its key runs.".formatted(id, act);
      case WOULD_BE_DONE ->
          "%s would be %s: the next call with its key would run. Nothing has changed."
              .formatted(id, act);
      case NOT_FOUND -> "%s is not recorded.".formatted(id);
      case OWNER_LIVES ->
          ("%s is not %s: its owner lives. Wait until its lease ends, or stop its server. With"
                  + " --even-if-live its answer is lost, and a retry may run beside it.")
              .formatted(id, act);
      case ALREADY_RECORDED ->
          "%s is not %s: its outcome is recorded. To run it again, forget it.".formatted(id, act);
      case NOT_RECORDED ->
          "%s is not %s: it has no recorded outcome yet. To let it go, free it.".formatted(id, act);
      case LOCKED ->
          "%s is not %s: a transaction has it locked, which is about to record it or to take it over. Look at it again."
              .formatted(id, act);
    };
  }

  JsonObject json() {
    JsonObject json = new JsonObject();
    json.addProperty("operation", id.toString());
    json.addProperty("result", result.name().toLowerCase(Locale.ROOT));
    return json;
  }

  /** Writes it, a refusal to the messages, and returns the exit code. */
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
