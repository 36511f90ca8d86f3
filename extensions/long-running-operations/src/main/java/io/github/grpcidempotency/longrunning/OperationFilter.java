package io.github.grpcidempotency.longrunning;

import io.github.grpcidempotency.proto.v1.OperationMetadata.State;
import io.grpc.StatusRuntimeException;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A filter for listing operations, in the syntax of AIP-160: terms such as {@code done = true}
 * joined by {@code AND}, over an operation's procedure, its state, and whether it is done.
 *
 * @param states the states that an operation may be in
 */
record OperationFilter(Optional<String> procedure, Set<State> states) {
  private static final int MAX_CHARACTERS = 1_000;

  /** All quantifiers are possessive, so that every text is read only once. */
  private static final Pattern TERM =
      Pattern.compile("\\s*+(\\w++)\\s*+=\\s*+(?:\"([^\"]*+)\"|([^\\s\"]++))\\s*+(AND\\b|$)");

  private static final Set<State> DONE =
      EnumSet.of(State.STATE_COMPLETED, State.STATE_FAILED, State.STATE_UNSPECIFIED);
  private static final Set<State> ALL = EnumSet.complementOf(EnumSet.of(State.UNRECOGNIZED));

  static OperationFilter parse(String text) {
    Optional<String> procedure = Optional.empty();
    EnumSet<State> states = EnumSet.copyOf(ALL);
    if (text.length() > MAX_CHARACTERS) {
      throw OperationsService.invalid(
          "filter must have at most %d characters".formatted(MAX_CHARACTERS));
    }
    Matcher term = TERM.matcher(text);
    int at = 0;
    boolean more = !text.isBlank();
    while (more) {
      if (!term.region(at, text.length()).lookingAt()) {
        throw wrong("filter is malformed at character " + (at + 1));
      }
      String value = term.group(2) == null ? term.group(3) : term.group(2);
      switch (term.group(1)) {
        case "procedure" -> {
          if (procedure.filter(first -> !first.equals(value)).isPresent()) {
            states.clear();
          }
          procedure = Optional.of(value);
        }
        case "state" -> states.retainAll(EnumSet.of(stateOf(value)));
        case "done" -> states.retainAll(statesOf(value));
        default -> throw wrong("filter names an unknown field: " + term.group(1));
      }
      at = term.end();
      more = !term.group(4).isEmpty();
    }
    return new OperationFilter(procedure, states);
  }

  private static State stateOf(String value) {
    String name = value.toUpperCase(Locale.ROOT);
    return ALL.stream()
        .filter(state -> state.name().equals(name) || state.name().equals("STATE_" + name))
        .findFirst()
        .orElseThrow(() -> wrong("filter names an unknown state: " + value));
  }

  private static Set<State> statesOf(String done) {
    return switch (done) {
      case "true" -> DONE;
      case "false" -> EnumSet.complementOf(EnumSet.copyOf(DONE));
      default -> throw wrong("done must be true or false");
    };
  }

  private static StatusRuntimeException wrong(String why) {
    return OperationsService.invalid(
        why
            + "; an example: procedure = \"shop.Orders/Create\" AND state = PROCESSING AND done ="
            + " false");
  }
}
