package io.github.grpcidempotency.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.example.run.Keys;
import io.github.grpcidempotency.procedure.ResponseProtection;
import io.github.grpcidempotency.test.RepositoryRoot;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The rotation of {@code docs/how-to/secrets.md}, command by command. */
class KeyRotationTest {
  private static final Path PAGE = RepositoryRoot.resolve("docs/how-to/secrets.md");

  /** A line that can be pasted into a shell. */
  private static final Pattern COMMAND =
      Pattern.compile(
          "^mvn -q -pl example-server -am test-compile exec:java"
              + " -Dexec\\.args=\"keys (\\w+) keyset\\.json\"(?: +#.*)?$",
          Pattern.MULTILINE);

  private static final ByteString ANSWER = ByteString.copyFromUtf8("token");
  private static final ByteString ROW = ByteString.copyFromUtf8("user, key, procedure");

  @Test
  void everyServerDecryptsWhatAnyServerEncryptsAtEachStep(@TempDir Path directory)
      throws Exception {
    Path file = directory.resolve("keyset.json");
    List<String> steps =
        COMMAND.matcher(Files.readString(PAGE)).results().map(step -> step.group(1)).toList();
    assertThat(steps).containsExactly("CREATE", "ADD", "SEAL");

    run(steps.get(0), file);
    ResponseProtection first = Keys.in(file);
    run(steps.get(1), file);
    ResponseProtection second = Keys.in(file);
    run(steps.get(2), file);
    ResponseProtection third = Keys.in(file);

    assertThat(second.open(first.seal(ANSWER, ROW), ROW)).isEqualTo(ANSWER);
    assertThat(first.open(second.seal(ANSWER, ROW), ROW)).as("not yet").isEqualTo(ANSWER);
    assertThat(third.open(first.seal(ANSWER, ROW), ROW)).isEqualTo(ANSWER);
    assertThat(second.open(third.seal(ANSWER, ROW), ROW)).isEqualTo(ANSWER);
    assertThatThrownBy(() -> first.open(third.seal(ANSWER, ROW), ROW))
        .as("the new key encrypts now")
        .isInstanceOf(RuntimeException.class);
  }

  @Test
  void aKeysetIsReadableByItsOwnerAndNeverOverwritten(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("keyset.json");
    run("CREATE", file);
    assertThat(Files.getPosixFilePermissions(file)).hasSize(2);
    String keys = Files.readString(file);
    assertThat(Example.run("keys", "CREATE", file.toString())).isEqualTo(1);
    assertThat(file).hasContent(keys);
  }

  private static void run(String step, Path file) {
    assertThat(Example.run("keys", step, file.toString())).isZero();
  }
}
