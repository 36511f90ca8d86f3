package io.github.grpcidempotency.example;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who says an option means it: one that would do nothing is refused, before anything starts. */
class RefusedOptionsTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--app-user x                                  | --app-user does nothing without --jdbc-url",
        "--app-password x                              | --app-password does nothing without --jdbc-url",
        "--worker-user x                               | --worker-user does nothing without --jdbc-url",
        "--worker-password x                           | --worker-password does nothing without --jdbc-url",
        "--owner-user x                                | --owner-user does nothing without --jdbc-url",
        "--owner-password x                            | --owner-password does nothing without --jdbc-url",
        "--no-migrate                                  | --no-migrate does nothing without --jdbc-url",
        "--jdbc-url x --data-dir x                     | --data-dir does nothing beside --jdbc-url",
        "--jdbc-url x --no-migrate --owner-user x      | --owner-user does nothing beside --no-migrate",
        "--jdbc-url x --no-migrate --owner-password x  | --owner-password does nothing beside --no-migrate",
        "--ttl 1h --retention-file x                   | --retention-file does nothing beside --ttl",
      })
  void anOptionThatWouldDoNothing(String arguments, String sentence) throws IOException {
    assertThat(run(arguments.split(" ")))
        .isEqualTo(new EndedProgram(2, "", sentence + "; --help lists the options."));
  }

  @Test
  void aRetentionOfNoTime() throws IOException {
    EndedProgram ended = run("--ttl", "0s");
    assertThat(ended.exitCode()).isEqualTo(2);
    assertThat(ended.err()).contains("--ttl").contains("'0s' is not more than zero");
  }

  @Test
  void aProviderWithoutAPort() throws IOException {
    EndedProgram ended = run("--provider", "moon.example");
    assertThat(ended.exitCode()).isEqualTo(2);
    assertThat(ended.err()).contains("--provider").contains("'moon.example' is not HOST:PORT");
  }

  @Test
  void filesThatDoNotExist(@TempDir Path directory) throws IOException {
    String missing = directory.resolve("missing").toString();
    String data = directory.toString();
    assertThat(run("--data-dir", data, "--retention-file", missing))
        .isEqualTo(new EndedProgram(1, "", "There are no retentions at " + missing + "."));
    assertThat(run("--data-dir", data, "--keyset", missing).err())
        .startsWith("There is no keyset at " + missing);
    assertThat(EndedProgram.of("keys", "ADD", missing).err())
        .startsWith("There is no keyset at " + missing);
    assertThat(directory).isEmptyDirectory();
  }

  /** Runs a server that could not start in any case. */
  private static EndedProgram run(String... arguments) throws IOException {
    try (ServerSocket taken = new ServerSocket(0)) {
      List<String> all = new ArrayList<>(List.of("serve", "--port", "" + taken.getLocalPort()));
      all.addAll(List.of(arguments));
      return EndedProgram.of(all.toArray(String[]::new));
    }
  }
}
