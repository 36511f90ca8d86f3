package io.github.grpcidempotency.procedure;

import io.github.grpcidempotency.key.KeyFormat;
import io.github.grpcidempotency.key.KeySource;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** One {@code key_sources} entry of a method's option. */
record KeySourceOption(
    io.github.grpcidempotency.proto.v1.KeySource declared,
    Function<String, IllegalArgumentException> wrong) {

  KeySource toSource() {
    KeySource source = source();
    KeySource formatted = format().map(source::as).orElse(source);
    return declared.getPrefix().isEmpty() ? formatted : formatted.prefixed(declared.getPrefix());
  }

  private KeySource source() {
    return switch (declared.getSourceCase()) {
      case METADATA -> KeySource.metadata(declared.getMetadata());
      case REQUEST_FIELD -> KeySource.requestField(declared.getRequestField());
      case REQUEST_ID -> KeySource.requestId();
      case ASSIGNED_ID -> KeySource.assignedId(declared.getAssignedId());
      case CONTENT -> content();
      case SOURCE_NOT_SET -> throw wrong.apply("a key source says not where to look");
    };
  }

  private KeySource content() {
    if (declared.getContent().getFieldsCount() == 0) {
      throw wrong.apply("a key of content needs at least one field");
    }
    return KeySource.content(declared.getContent().getFieldsList().toArray(String[]::new));
  }

  private Optional<KeyFormat> format() {
    return switch (declared.getFormat()) {
      case UUID -> Optional.of(KeyFormat.uuid());
      case UUID4 -> Optional.of(KeyFormat.uuid4());
      case OPAQUE -> Optional.of(KeyFormat.opaque());
      case SCHEDULE -> Optional.of(KeyFormat.schedule());
      case PATTERN -> Optional.of(KeyFormat.matching(pattern()));
      case KEY_FORMAT_UNSPECIFIED, UNRECOGNIZED -> Optional.empty();
    };
  }

  private Pattern pattern() {
    try {
      return Pattern.compile(declared.getPattern());
    } catch (PatternSyntaxException malformed) {
      throw wrong.apply("the key's pattern is malformed: " + malformed.getMessage());
    }
  }
}
