package io.github.grpcidempotency.example.run.settings;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.google.protobuf.ByteString;
import io.github.grpcidempotency.example.run.database.StartupFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** Any content of a keyset file either seals and opens, or is refused in one line. */
class KeysetFuzzTest {
  private static final ByteString ANSWER = ByteString.copyFromUtf8("an answer");
  private static final ByteString ROW = ByteString.copyFromUtf8("a row");

  private final Path file;

  KeysetFuzzTest(@TempDir Path directory) {
    this.file = directory.resolve("keyset.json");
  }

  @FuzzTest
  void aKeysetSealsAndOpensOrIsRefusedInOneLine(byte[] input) throws IOException {
    Files.write(file, input);
    KeysetProtection protection;
    try {
      protection = new KeysetProtection(file);
    } catch (StartupFailure refused) {
      assertThat(refused.getMessage()).isNotBlank().doesNotContain("\n");
      return;
    }
    assertThat(protection.open(protection.seal(ANSWER, ROW), ROW)).isEqualTo(ANSWER);
  }
}
