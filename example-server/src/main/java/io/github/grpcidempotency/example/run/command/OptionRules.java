package io.github.grpcidempotency.example.run.command;

import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** Refuses options that would have no effect: a user who gives one expects it to have one. */
record OptionRules(CommandSpec command) {

  /** Refuses options if another one is given. */
  void notBeside(String other, List<String> options) {
    if (given().hasMatchedOption(other)) {
      refuse(options, "beside " + other);
    }
  }

  /** Refuses options if another one is not given. */
  void notWithout(String other, List<String> options) {
    if (!given().hasMatchedOption(other)) {
      refuse(options, "without " + other);
    }
  }

  private void refuse(List<String> options, String circumstance) {
    for (String option : options) {
      if (given().hasMatchedOption(option)) {
        throw new ParameterException(
            command.commandLine(), option + " does nothing " + circumstance);
      }
    }
  }

  private ParseResult given() {
    return command.commandLine().getParseResult();
  }
}
