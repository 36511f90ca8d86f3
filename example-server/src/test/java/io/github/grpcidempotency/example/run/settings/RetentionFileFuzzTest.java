package io.github.grpcidempotency.example.run.settings;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.github.grpcidempotency.example.run.database.StartupFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.io.TempDir;

/** Any content of a retention file is either accepted, or refused in one line. */
class RetentionFileFuzzTest {
  private static final Set<String> METHODS = Set.of("CreateProject", "InviteMember");

  private final Path file;

  RetentionFileFuzzTest(@TempDir Path directory) {
    this.file = directory.resolve("retention.properties");
  }

  @FuzzTest
  void aFileOfRetentionsIsUnderstoodOrRefusedInOneLine(byte[] input) throws IOException {
    Files.write(file, input);
    try {
      RetentionFile read = RetentionFile.read(file, METHODS);
      assertThat(read.byMethod())
          .allSatisfy((method, retention) -> assertThat(retention).isPositive());
      assertThat(METHODS).containsAll(read.byMethod().keySet());
    } catch (StartupFailure refused) {
      assertThat(refused.getMessage()).isNotBlank().doesNotContain("\n");
    }
  }
}
