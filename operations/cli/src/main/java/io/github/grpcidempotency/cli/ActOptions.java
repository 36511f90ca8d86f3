package io.github.grpcidempotency.cli;

import io.github.grpcidempotency.admin.Act;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The actor of a command, and the reason. */
final class ActOptions {
  @Option(
      names = "--reason",
      paramLabel = "TEXT",
      description = "The reason, for the audit table. On a terminal, the command prompts for it.")
  Optional<String> reason = Optional.empty();

  @Option(
      names = "--actor",
      paramLabel = "NAME",
      description =
          "The person or program on whose behalf the command runs. The audit table keeps it beside"
              + " the database role. Default: IDEMPOTENCY_ACTOR, or the user and name of this"
              + " computer.")
  Optional<String> actor = Optional.empty();

  /**
   * Returns both.
   *
   * @throws CommandFailure if no reason was given, and there is no terminal to prompt for it
   */
  Act act(Surroundings surroundings) {
    String why =
        reason
            .or(() -> surroundings.terminal().flatMap(terminal -> terminal.ask("Reason: ")))
            .map(String::strip)
            .filter(text -> !text.isEmpty())
            .orElseThrow(
                () ->
                    new CommandFailure(
                        ExitCode.NO_REASON, "a reason is missing: give it with --reason TEXT"));
    return act(surroundings, why);
  }

  /** Returns both. A dry run needs no reason, because it is not audited. */
  Act act(Surroundings surroundings, boolean dryRun) {
    return dryRun ? act(surroundings, "dry run") : act(surroundings);
  }

  private Act act(Surroundings surroundings, String why) {
    try {
      return new Act(surroundings.actor(actor), why);
    } catch (IllegalArgumentException tooLong) {
      throw new CommandFailure(ExitCode.USAGE, String.valueOf(tooLong.getMessage()), tooLong);
    }
  }
}
