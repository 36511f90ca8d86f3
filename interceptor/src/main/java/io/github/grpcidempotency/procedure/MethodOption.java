package io.github.grpcidempotency.procedure;

import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Duration;
import com.google.protobuf.Message;
import io.github.grpcidempotency.key.KeyFormat;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.procedure.internal.ProtobufDurations;
import io.github.grpcidempotency.resource.ResourceType;
import java.util.Collection;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import java.util.stream.Stream;

/**
 * The {@code (idempotency.v1.procedure)} option of one method in the compiled schema. Its mistakes
 * become problems of its descriptor.
 */
final class MethodOption {
  private final io.github.grpcidempotency.proto.v1.Procedure declared;
  private final ProcedureBuilder<?> builder;

  private MethodOption(
      io.github.grpcidempotency.proto.v1.Procedure declared, ProcedureBuilder<?> builder) {
    this.declared = declared;
    this.builder = builder;
  }

  /** Sets everything that an option declares, and returns the same builder. */
  static <ResponseT extends Message> ProcedureBuilder<ResponseT> describe(
      io.github.grpcidempotency.proto.v1.Procedure declared, ProcedureBuilder<ResponseT> builder) {
    new MethodOption(declared, builder).describe();
    return builder;
  }

  private void describe() {
    if (!isUnderstood(declared)) {
      builder.problem(
          "its option has a field or a value that this version of the library does not know");
    }
    describeResource();
    describeKey();
    describeExecution();
    if (declared.hasRetention()) {
      duration("retention", declared.getRetention()).ifPresent(builder::retention);
    }
    if (declared.hasAttach()) {
      describeDuplicates();
    }
    builder.omit(declared.getOmittedFieldsList().toArray(String[]::new));
  }

  private void describeResource() {
    boolean creates = !declared.getResourceIdField().isEmpty();
    boolean deletes = !declared.getDeletedIdField().isEmpty();
    if (declared.getResourceType().isEmpty()) {
      if (creates) {
        builder.problem("it has a resource_id_field, which has no effect without resource_type");
      }
      if (deletes) {
        builder.problem("it has a deleted_id_field, which has no effect without resource_type");
      }
      return;
    }
    if (!creates && !deletes) {
      builder.problem(
          "it has a resource_type, but no resource_id_field: name the field of the response with"
              + " the id, or for a delete the deleted_id_field of the request");
    }
    ResourceType type;
    try {
      type = ResourceType.of(declared.getResourceType());
    } catch (IllegalArgumentException malformed) {
      builder.problem(String.valueOf(malformed.getMessage()));
      return;
    }
    if (deletes) {
      builder.deletes(type, declared.getDeletedIdField());
    }
    if (creates) {
      builder.resource(type, declared.getResourceIdField());
    }
  }

  private void describeKey() {
    KeySource[] sources =
        declared.getKeySourcesList().stream()
            .map(this::source)
            .flatMap(Optional::stream)
            .toArray(KeySource[]::new);
    if (sources.length > 0) {
      builder.keyFrom(KeySource.firstOf(sources));
    }
    switch (declared.getKeyPolicy()) {
      case KEY_POLICY_OPTIONAL -> builder.keyPolicy(KeyPolicy.OPTIONAL);
      case KEY_POLICY_REQUIRED -> builder.keyPolicy(KeyPolicy.REQUIRED);
      case KEY_POLICY_HANDLER_INTERNAL -> builder.keyPolicy(KeyPolicy.HANDLER_INTERNAL);
      case KEY_POLICY_PROHIBITED -> builder.keyPolicy(KeyPolicy.PROHIBITED);
      case KEY_POLICY_UNSPECIFIED, UNRECOGNIZED -> {}
    }
  }

  /** Returns a declared source. If it describes no source, adds a problem and returns empty. */
  private Optional<KeySource> source(io.github.grpcidempotency.proto.v1.KeySource key) {
    Optional<KeySource> source =
        switch (key.getSourceCase()) {
          case METADATA -> Optional.of(formatted(KeySource.metadata(key.getMetadata()), key));
          case REQUEST_FIELD ->
              Optional.of(formatted(KeySource.requestField(key.getRequestField()), key));
          case REQUEST_ID ->
              key.getRequestId()
                  ? withoutFormat(KeySource.requestId(), key)
                  : none(
                      "a key source has request_id: false, which has no effect: set it to true, or"
                          + " remove it");
          case ASSIGNED_ID -> withoutFormat(KeySource.assignedId(key.getAssignedId()), key);
          case CONTENT ->
              key.getContent().getFieldsCount() == 0
                  ? none("a content key needs at least one field")
                  : withoutFormat(
                      KeySource.content(key.getContent().getFieldsList().toArray(String[]::new)),
                      key);
          case SOURCE_NOT_SET ->
              none(
                  "a key source is empty: set metadata, request_field, request_id, assigned_id or"
                      + " content");
        };
    return source.map(found -> key.getPrefix().isEmpty() ? found : found.prefixed(key.getPrefix()));
  }

  private KeySource formatted(KeySource source, io.github.grpcidempotency.proto.v1.KeySource key) {
    return format(key.getFormat(), key.getPattern()).map(source::as).orElse(source);
  }

  private Optional<KeySource> withoutFormat(
      KeySource source, io.github.grpcidempotency.proto.v1.KeySource key) {
    if (key.getFormat() != io.github.grpcidempotency.proto.v1.KeyFormat.KEY_FORMAT_UNSPECIFIED
        || !key.getPattern().isEmpty()) {
      builder.problem(
          "a key source with request_id, assigned_id or content must not have a format or a"
              + " pattern");
    }
    return Optional.of(source);
  }

  /** Returns a declared format. Adds a problem if the format and the pattern do not fit. */
  private Optional<KeyFormat> format(
      io.github.grpcidempotency.proto.v1.KeyFormat format, String pattern) {
    boolean byPattern = format == io.github.grpcidempotency.proto.v1.KeyFormat.KEY_FORMAT_PATTERN;
    if (!byPattern && !pattern.isEmpty()) {
      builder.problem("a key pattern has no effect without the format KEY_FORMAT_PATTERN");
    }
    return switch (format) {
      case KEY_FORMAT_UUID -> Optional.of(KeyFormat.uuid());
      case KEY_FORMAT_UUID4 -> Optional.of(KeyFormat.uuid4());
      case KEY_FORMAT_OPAQUE -> Optional.of(KeyFormat.opaque());
      case KEY_FORMAT_PATTERN -> compiled(pattern);
      case KEY_FORMAT_UNSPECIFIED, UNRECOGNIZED -> Optional.empty();
    };
  }

  private Optional<KeyFormat> compiled(String pattern) {
    if (pattern.isEmpty()) {
      return none("the key format KEY_FORMAT_PATTERN needs a pattern");
    }
    try {
      return Optional.of(KeyFormat.matching(Pattern.compile(pattern)));
    } catch (PatternSyntaxException malformed) {
      return none(
          "the key's pattern is malformed: %s near index %d"
              .formatted(malformed.getDescription(), malformed.getIndex()));
    }
  }

  private <T> Optional<T> none(String problem) {
    builder.problem(problem);
    return Optional.empty();
  }

  private void describeExecution() {
    switch (declared.getOutagePolicy()) {
      case OUTAGE_POLICY_FAIL_OPEN -> builder.outage(OutagePolicy.FAIL_OPEN);
      case OUTAGE_POLICY_FAIL_CLOSED -> builder.outage(OutagePolicy.FAIL_CLOSED);
      case OUTAGE_POLICY_UNSPECIFIED, UNRECOGNIZED -> {}
    }
    switch (declared.getExecution()) {
      case EXECUTION_RESERVED -> builder.execution(Execution.RESERVED);
      case EXECUTION_TRANSACTIONAL -> builder.execution(Execution.TRANSACTIONAL);
      case EXECUTION_UNSPECIFIED, UNRECOGNIZED -> {}
    }
  }

  private void describeDuplicates() {
    try {
      duration("attach", declared.getAttach()).ifPresent(builder::attach);
    } catch (IllegalArgumentException outOfRange) {
      builder.problem(String.valueOf(outOfRange.getMessage()));
    }
  }

  private Optional<java.time.Duration> duration(String field, Duration duration) {
    return ProtobufDurations.read(duration)
        .or(() -> none("its %s is not a valid duration".formatted(field)));
  }

  /**
   * Returns whether this version of the library knows all fields and values. A newer schema may
   * have settings that this version would silently ignore.
   */
  private static boolean isUnderstood(Message option) {
    return option.getUnknownFields().asMap().isEmpty()
        && option.getAllFields().values().stream()
            .flatMap(
                value -> value instanceof Collection<?> many ? many.stream() : Stream.of(value))
            .allMatch(
                value ->
                    (!(value instanceof Message message) || isUnderstood(message))
                        && (!(value instanceof EnumValueDescriptor word) || word.getIndex() >= 0));
  }
}
