package io.github.grpcidempotency.procedure;

import io.github.grpcidempotency.key.KeyFormat;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** The key format and the key pattern in a method's option. */
record KeyFormatOption(
    io.github.grpcidempotency.proto.v1.KeyFormat declared,
    String pattern,
    Consumer<String> problems) {

  Optional<KeyFormat> toFormat() {
    if (declared == io.github.grpcidempotency.proto.v1.KeyFormat.KEY_FORMAT_PATTERN) {
      return compiled();
    }
    if (!pattern.isEmpty()) {
      problems.accept("a key pattern has no effect without the format KEY_FORMAT_PATTERN");
    }
    return switch (declared) {
      case KEY_FORMAT_UUID -> Optional.of(KeyFormat.uuid());
      case KEY_FORMAT_UUID4 -> Optional.of(KeyFormat.uuid4());
      case KEY_FORMAT_OPAQUE -> Optional.of(KeyFormat.opaque());
      case KEY_FORMAT_PATTERN, KEY_FORMAT_UNSPECIFIED, UNRECOGNIZED -> Optional.empty();
    };
  }

  private Optional<KeyFormat> compiled() {
    if (pattern.isEmpty()) {
      problems.accept("the key format KEY_FORMAT_PATTERN needs a pattern");
      return Optional.empty();
    }
    try {
      return Optional.of(KeyFormat.matching(Pattern.compile(pattern)));
    } catch (PatternSyntaxException malformed) {
      problems.accept(
          "the key's pattern is malformed: %s near index %d"
              .formatted(malformed.getDescription(), malformed.getIndex()));
      return Optional.empty();
    }
  }
}
