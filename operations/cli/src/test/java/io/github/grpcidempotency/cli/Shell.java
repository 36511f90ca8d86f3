package io.github.grpcidempotency.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.PrintWriter;
import java.io.StringReader;
import java.io.StringWriter;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Where a test runs commands, in this JVM.
 *
 * @param variables the environment
 * @param input what the standard input has
 * @param answers what the person at the terminal types; empty if there is no terminal
 */
record Shell(Map<String, String> variables, String input, Optional<List<String>> answers) {
  static Shell with(Map<String, String> variables) {
    return new Shell(variables, "", Optional.empty());
  }

  Shell and(String name, String value) {
    Map<String, String> more = new HashMap<>(variables);
    more.put(name, value);
    return new Shell(more, input, answers);
  }

  Shell reading(String text) {
    return new Shell(variables, text, answers);
  }

  /** Returns the same with a person who types these lines, and then closes the terminal. */
  Shell typing(String... lines) {
    return new Shell(variables, input, Optional.of(List.of(lines)));
  }

  Result run(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    Surroundings surroundings =
        new Surroundings(
            variables,
            new StringReader(input),
            new PrintWriter(out),
            new PrintWriter(err),
            answers.map(lines -> new TypedLines(new ArrayDeque<>(lines), err)));
    int code = Program.run(surroundings, arguments);
    return new Result(Arrays.toString(arguments), code, out.toString(), err.toString());
  }

  /** Returns the surroundings of a command whose output nobody reads. */
  Surroundings surroundings() {
    return new Surroundings(
        variables,
        new StringReader(input),
        new PrintWriter(new StringWriter()),
        new PrintWriter(new StringWriter()),
        Optional.empty());
  }

  /** What came of a command. */
  record Result(String command, int code, String out, String err) {
    Result expect(ExitCode expected) {
      assertThat(code).as("%s%nout: %s%nerr: %s", command, out, err).isEqualTo(expected.code());
      return this;
    }

    List<JsonObject> json() {
      return out.lines().map(line -> JsonParser.parseString(line).getAsJsonObject()).toList();
    }
  }

  /** A person who types what was agreed on. */
  private record TypedLines(ArrayDeque<String> lines, StringWriter screen) implements Terminal {
    @Override
    public Optional<String> ask(String question) {
      screen.write(question + "\n");
      return Optional.ofNullable(lines.poll());
    }

    @Override
    public Optional<String> askSecretly(String question) {
      return ask(question);
    }
  }
}
