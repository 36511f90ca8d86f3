package io.github.grpcidempotency.procedure;

import io.github.grpcidempotency.key.KeyFormat;
import io.github.grpcidempotency.key.KeySource;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** One {@code key_sources} entry of a method's option. */
record KeySourceOption(
    io.github.grpcidempotency.proto.v1.KeySource declared, Consumer<String> problems) {

  /** Returns the source. If the entry describes no source, reports a problem and returns empty. */
  Optional<KeySource> toSource() {
    return source().map(this::formatted).map(this::prefixed);
  }

  private Optional<KeySource> source() {
    return switch (declared.getSourceCase()) {
      case METADATA -> Optional.of(KeySource.metadata(declared.getMetadata()));
      case REQUEST_FIELD -> Optional.of(KeySource.requestField(declared.getRequestField()));
      case REQUEST_ID -> requestId();
      case ASSIGNED_ID -> Optional.of(KeySource.assignedId(declared.getAssignedId()));
      case CONTENT -> content();
      case SOURCE_NOT_SET ->
          none(
              "a key source is empty: set metadata, request_field, request_id, assigned_id or"
                  + " content");
    };
  }

  private Optional<KeySource> requestId() {
    return declared.getRequestId()
        ? Optional.of(KeySource.requestId())
        : none(
            "a key source has request_id: false, which has no effect: set it to true, or remove"
                + " it");
  }

  private Optional<KeySource> content() {
    return declared.getContent().getFieldsCount() == 0
        ? none("a content key needs at least one field")
        : Optional.of(
            KeySource.content(declared.getContent().getFieldsList().toArray(String[]::new)));
  }

  private KeySource formatted(KeySource source) {
    return switch (declared.getSourceCase()) {
      case METADATA, REQUEST_FIELD, SOURCE_NOT_SET ->
          format(declared.getFormat(), declared.getPattern(), problems)
              .map(source::as)
              .orElse(source);
      case REQUEST_ID, ASSIGNED_ID, CONTENT -> {
        if (declared.getFormat()
                != io.github.grpcidempotency.proto.v1.KeyFormat.KEY_FORMAT_UNSPECIFIED
            || !declared.getPattern().isEmpty()) {
          problems.accept(
              "a key source with request_id, assigned_id or content must not have a"
                  + " format or a pattern");
        }
        yield source;
      }
    };
  }

  private KeySource prefixed(KeySource source) {
    return declared.getPrefix().isEmpty() ? source : source.prefixed(declared.getPrefix());
  }

  private Optional<KeySource> none(String problem) {
    problems.accept(problem);
    return Optional.empty();
  }

  /** Returns the format of a key. Reports a problem if the format and the pattern do not fit. */
  static Optional<KeyFormat> format(
      io.github.grpcidempotency.proto.v1.KeyFormat declared,
      String pattern,
      Consumer<String> problems) {
    if (declared == io.github.grpcidempotency.proto.v1.KeyFormat.KEY_FORMAT_PATTERN) {
      return compiled(pattern, problems);
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

  private static Optional<KeyFormat> compiled(String pattern, Consumer<String> problems) {
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
