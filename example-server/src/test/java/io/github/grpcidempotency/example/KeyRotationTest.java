package io.github.grpcidempotency.example;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.example.run.settings.Keyset;
import io.github.grpcidempotency.example.run.settings.KeysetProtection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The rotation of {@code docs/how-to/secrets.md}, command by command. */
class KeyRotationTest {
  private static final Path PAGE = Path.of("..", "docs", "how-to", "secrets.md");
  private static final Pattern COMMAND =
      Pattern.compile("-Dexec\\.args=\"keys (\\w+) keyset\\.json\"");
  private static final ByteString ANSWER = ByteString.copyFromUtf8("token");
  private static final ByteString ROW = ByteString.copyFromUtf8("user, key, procedure");

  @Test
  void whatWasEncryptedBeforeIsDecryptedAfterEachOfItsSteps(@TempDir Path directory)
      throws IOException {
    Path file = directory.resolve("keyset.json");
    List<String> steps =
        COMMAND.matcher(Files.readString(PAGE)).results().map(step -> step.group(1)).toList();
    assertThat(steps).containsExactly("CREATE", "ADD", "SEAL");

    run(steps.get(0), file);
    KeysetProtection server = new KeysetProtection(file);
    ByteString sealed = server.seal(ANSWER, ROW);
    int first = Keyset.read(file).sealingKey();
    run(steps.get(1), file);
    assertThat(server.open(sealed, ROW)).isEqualTo(ANSWER);
    assertThat(Keyset.read(file).sealingKey()).as("not yet").isEqualTo(first);
    run(steps.get(2), file);
    assertThat(server.open(sealed, ROW)).isEqualTo(ANSWER);
    assertThat(Keyset.read(file).sealingKey()).isNotEqualTo(first);
  }

  private static void run(String step, Path file) {
    EndedProgram ended = EndedProgram.of("keys", step, file.toString());
    assertThat(ended.exitCode()).as(ended.err()).isZero();
  }
}
