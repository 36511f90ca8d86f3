package io.github.grpcidempotency.key;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.base.Strings;
import com.google.common.io.BaseEncoding;
import io.github.grpcidempotency.test.RepositoryRoot;
import io.github.grpcidempotency.testing.v1.Vector;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The test vectors in the appendix of the specification. */
class FingerprintVectorsTest {
  private static final BaseEncoding HEX = BaseEncoding.base16().lowerCase();

  /** The bytes that arrive, the canonical bytes, and their hash. */
  private static final Pattern ROW =
      Pattern.compile(
          "(?m)\\| (?:`([0-9a-f]+)`|–) \\| (?:`([0-9a-f]+)`|–) \\| `([0-9a-f]{64})` \\|$");

  @Test
  void everyVectorIsWhatTheServerComputes() throws Exception {
    List<MatchResult> rows =
        ROW.matcher(Files.readString(RepositoryRoot.resolve("docs/specification/README.md")))
            .results()
            .toList();

    assertThat(rows).hasSizeGreaterThan(15);
    for (MatchResult row : rows) {
      Vector message = Vector.parseFrom(HEX.decode(Strings.nullToEmpty(row.group(1))));
      Map<String, String> computed =
          Map.of(
              "canonical", HEX.encode(canonical(message)),
              "hash",
                  HEX.encode(
                      Fingerprinter.ofSchema(Vector.getDescriptor())
                          .fingerprint(message)
                          .hash()
                          .toByteArray()));
      assertThat(computed)
          .as(row.group(1))
          .isEqualTo(Map.of("canonical", Strings.nullToEmpty(row.group(2)), "hash", row.group(3)));
    }
  }

  private static byte[] canonical(Vector message) {
    return DeterministicBytes.of(MarkedFields.of(Vector.getDescriptor()).without(message, 1));
  }
}
