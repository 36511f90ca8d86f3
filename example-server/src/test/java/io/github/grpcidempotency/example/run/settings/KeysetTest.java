package io.github.grpcidempotency.example.run.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.example.run.database.StartupFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KeysetTest {
  private static final ByteString ANSWER = ByteString.copyFromUtf8("token");
  private static final ByteString ROW = ByteString.copyFromUtf8("user, key, procedure");

  private final Path file;

  KeysetTest(@TempDir Path directory) {
    this.file = directory.resolve("keyset.json");
  }

  @Test
  void aKeyThatWasAddedOpensBeforeItSeals() {
    Keyset.create().writeNew(file);
    KeysetProtection everywhere = new KeysetProtection(file);
    int first = Keyset.read(file).sealingKey();

    Keyset.read(file).withNewKey().replace(file);
    assertThat(Keyset.read(file).size()).isEqualTo(2);
    assertThat(Keyset.read(file).sealingKey()).isEqualTo(first);
    ByteString sealedBefore = everywhere.seal(ANSWER, ROW);
    assertThat(keyOf(sealedBefore)).isEqualTo(first);

    Keyset.read(file).sealingWithNewest().replace(file);
    assertThat(Keyset.read(file).sealingKey()).isNotEqualTo(first);
    ByteString sealedAfter = everywhere.seal(ANSWER, ROW);
    assertThat(keyOf(sealedAfter)).isEqualTo(Keyset.read(file).sealingKey());
    assertThat(everywhere.open(sealedBefore, ROW)).isEqualTo(ANSWER);
    assertThat(everywhere.open(sealedAfter, ROW)).isEqualTo(ANSWER);
  }

  @Test
  void aSealedAnswerOpensForItsOwnRowOnly() {
    Keyset.create().writeNew(file);
    KeysetProtection protection = new KeysetProtection(file);
    ByteString sealed = protection.seal(ANSWER, ROW);
    assertThat(sealed.toStringUtf8()).doesNotContain("token");
    assertThatThrownBy(() -> protection.open(sealed, ByteString.copyFromUtf8("another row")))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aKeysetIsForItsOwnersEyesAndNeverOverwritten() throws IOException {
    Keyset.create().writeNew(file);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    Keyset.read(file).withNewKey().replace(file);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    assertThatThrownBy(() -> Keyset.create().writeNew(file))
        .isInstanceOf(StartupFailure.class)
        .hasMessageStartingWith("There is a keyset at " + file + " already");
  }

  @Test
  void aKeysetThatBreaksWhileTheServerRunsChangesNothing() throws IOException {
    Keyset.create().writeNew(file);
    KeysetProtection protection = new KeysetProtection(file);
    ByteString sealed = protection.seal(ANSWER, ROW);
    String aLetterTooMuch = Files.readString(file).replace("\"value\":\"", "\"value\":\"A");
    for (String broken : List.of("{", aLetterTooMuch)) {
      Files.writeString(file, broken);
      assertThat(protection.open(sealed, ROW)).as(broken).isEqualTo(ANSWER);
    }
  }

  /** What Tink has sealed begins with a 1 and the id of the key. */
  private static int keyOf(ByteString sealed) {
    return sealed.asReadOnlyByteBuffer().getInt(1);
  }
}
