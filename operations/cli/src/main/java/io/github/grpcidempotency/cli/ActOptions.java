package io.github.grpcidempotency.cli;

import io.github.grpcidempotency.admin.Act;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Who acts, and why. */
final class ActOptions {
  @Option(
      names = "--reason",
      paramLabel = "TEXT",
      description = "Why; it is kept in the audit table. On a terminal it is asked for.")
  Optional<String> reason = Optional.empty();

  @Option(
      names = "--actor",
      paramLabel = "NAME",
      description =
          "On whose behalf; it is kept beside the database role. Default: IDEMPOTENCY_ACTOR, or the"
              + " user and name of this computer.")
  Optional<String> actor = Optional.empty();

  /**
   * Returns both.
   *
   * @throws CommandFailure if no reason was given, and nobody can be asked
   */
  Act act(Surroundings surroundings) {
    String why =
        reason
            .or(() -> surroundings.terminal().flatMap(terminal -> terminal.ask("Reason: ")))
            .map(String::strip)
            .filter(text -> !text.isEmpty())
            .orElseThrow(
                () -> new CommandFailure(ExitCode.NO_REASON, "why? Say it with --reason TEXT"));
    return act(surroundings, why);
  }

  /** Returns both, with a reason for who gives none. */
  Act actOr(Surroundings surroundings, String otherwise) {
    return act(surroundings, reason.filter(text -> !text.isBlank()).orElse(otherwise));
  }

  private Act act(Surroundings surroundings, String why) {
    try {
      return new Act(surroundings.actor(actor), why);
    } catch (IllegalArgumentException tooLong) {
      throw new CommandFailure(ExitCode.USAGE, String.valueOf(tooLong.getMessage()), tooLong);
    }
  }
}
