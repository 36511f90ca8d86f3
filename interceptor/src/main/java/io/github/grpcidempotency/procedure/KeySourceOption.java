package io.github.grpcidempotency.procedure;

import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.proto.v1.KeyFormat;
import java.util.Optional;
import java.util.function.Consumer;

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
    KeyFormatOption format =
        new KeyFormatOption(declared.getFormat(), declared.getPattern(), problems);
    return switch (declared.getSourceCase()) {
      case METADATA, REQUEST_FIELD, SOURCE_NOT_SET ->
          format.toFormat().map(source::as).orElse(source);
      case REQUEST_ID, ASSIGNED_ID, CONTENT -> {
        if (declared.getFormat() != KeyFormat.KEY_FORMAT_UNSPECIFIED
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
}
