package io.github.grpcidempotency.procedure;

import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Duration;
import com.google.protobuf.Message;
import com.google.rpc.Code;
import io.github.grpcidempotency.internal.field.ProtobufDurations;
import io.github.grpcidempotency.internal.method.MethodSchema;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.proto.v1.KeyFormat;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The {@code (idempotency.v1.procedure)} option of one method in the compiled schema. Its mistakes
 * become problems of its descriptor.
 */
record MethodOption(io.github.grpcidempotency.proto.v1.Procedure declared) {
  static MethodOption of(io.grpc.MethodDescriptor<?, ?> method) {
    return find(method)
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    method.getFullMethodName() + " has no (idempotency.v1.procedure) option"));
  }

  static Optional<MethodOption> find(io.grpc.MethodDescriptor<?, ?> method) {
    return MethodSchema.schema(method).flatMap(MethodSchema::option).map(MethodOption::new);
  }

  <ResponseT extends Message> ProcedureBuilder<ResponseT> describe(
      ProcedureBuilder<ResponseT> builder) {
    if (!isUnderstood(declared)) {
      builder.problem(
          "its option has a field or a value that this version of the library does not know");
    }
    describeResource(builder);
    describeKey(builder);
    describeRetention(builder);
    describeFailures(builder);
    describeDuplicates(builder);
    builder.omit(declared.getOmittedFieldsList().toArray(String[]::new));
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
    if (declared.getSameDatabase()) {
      builder.sameDatabase();
    }
    switch (declared.getClaimTiming()) {
      case CLAIM_TIMING_BEFORE_HANDLER -> builder.claim(ClaimTiming.BEFORE_HANDLER);
      case CLAIM_TIMING_WITH_FIRST_STATEMENT -> builder.claim(ClaimTiming.WITH_FIRST_STATEMENT);
      case CLAIM_TIMING_UNSPECIFIED, UNRECOGNIZED -> {}
    }
    return builder;
  }

  private void describeResource(ProcedureBuilder<?> builder) {
    if (declared.getResourceType().isEmpty()) {
      if (!declared.getResourceIdField().isEmpty()) {
        builder.problem("it has a resource_id_field, which has no effect without resource_type");
      }
      if (!declared.getDeletedIdField().isEmpty()) {
        builder.problem("it has a deleted_id_field, which has no effect without resource_type");
      }
      return;
    }
    Optional<ResourceType> type = resourceType(builder);
    if (!declared.getDeletedIdField().isEmpty()) {
      type.ifPresent(deleted -> builder.deletes(deleted, declared.getDeletedIdField()));
      if (declared.getResourceIdField().isEmpty()) {
        return;
      }
    }
    if (declared.getResourceIdField().isEmpty()) {
      builder.problem(
          "it has a resource_type, but no resource_id_field: name the field of the response with"
              + " the id, or for a delete the deleted_id_field of the request");
    } else {
      type.ifPresent(created -> builder.resource(created, declared.getResourceIdField()));
    }
  }

  private Optional<ResourceType> resourceType(ProcedureBuilder<?> builder) {
    try {
      return Optional.of(ResourceType.of(declared.getResourceType()));
    } catch (IllegalArgumentException malformed) {
      builder.problem(String.valueOf(malformed.getMessage()));
      return Optional.empty();
    }
  }

  private void describeKey(ProcedureBuilder<?> builder) {
    if (declared.getKeySourcesCount() > 0) {
      KeySource[] sources =
          declared.getKeySourcesList().stream()
              .map(source -> new KeySourceOption(source, builder::problem).toSource())
              .flatMap(Optional::stream)
              .toArray(KeySource[]::new);
      if (sources.length > 0) {
        builder.keyFrom(KeySource.firstOf(sources));
      }
    }
    if (declared.getKeyFormat() != KeyFormat.KEY_FORMAT_UNSPECIFIED
        || !declared.getKeyPattern().isEmpty()) {
      KeySourceOption.format(declared.getKeyFormat(), declared.getKeyPattern(), builder::problem)
          .ifPresent(builder::keyFormat);
    }
    switch (declared.getKeyPolicy()) {
      case KEY_POLICY_OPTIONAL -> builder.keyPolicy(KeyPolicy.OPTIONAL);
      case KEY_POLICY_REQUIRED -> builder.keyPolicy(KeyPolicy.REQUIRED);
      case KEY_POLICY_HANDLER_INTERNAL -> builder.keyPolicy(KeyPolicy.HANDLER_INTERNAL);
      case KEY_POLICY_PROHIBITED -> builder.keyPolicy(KeyPolicy.PROHIBITED);
      case KEY_POLICY_UNSPECIFIED, UNRECOGNIZED -> {}
    }
  }

  private void describeRetention(ProcedureBuilder<?> builder) {
    if (declared.hasRetention()) {
      duration(builder, "retention", declared.getRetention()).ifPresent(builder::retention);
    }
    if (declared.getRetainedFromLastReplay()) {
      builder.retainFromLastReplay();
    }
  }

  private void describeFailures(ProcedureBuilder<?> builder) {
    try {
      builder.failures(
          new FailurePolicy(
              codes(builder, declared.getTerminalCodesList()),
              codes(builder, declared.getUnknownCodesList()),
              codes(builder, declared.getNoEffectCodesList()),
              Set.copyOf(declared.getRecordedTrailersList())));
    } catch (IllegalArgumentException contradictory) {
      builder.problem(String.valueOf(contradictory.getMessage()));
    }
  }

  private static Set<Code> codes(ProcedureBuilder<?> builder, List<String> names) {
    return names.stream()
        .map(
            name -> {
              Optional<Code> code = code(name);
              if (code.isEmpty()) {
                builder.problem("\"%s\" is not the name of a status code".formatted(name));
              }
              return code;
            })
        .flatMap(Optional::stream)
        .collect(Collectors.toSet());
  }

  private static Optional<Code> code(String name) {
    return Arrays.stream(Code.values())
        .filter(code -> code != Code.UNRECOGNIZED && code.name().equals(name))
        .findFirst();
  }

  private void describeDuplicates(ProcedureBuilder<?> builder) {
    if (declared.hasAttach()) {
      try {
        duration(builder, "attach", declared.getAttach())
            .map(InFlightPolicy::attach)
            .ifPresent(builder::inFlight);
      } catch (IllegalArgumentException outOfRange) {
        builder.problem(String.valueOf(outOfRange.getMessage()));
      }
    }
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

  private static Optional<java.time.Duration> duration(
      ProcedureBuilder<?> builder, String field, Duration duration) {
    Optional<java.time.Duration> read = ProtobufDurations.read(duration);
    if (read.isEmpty()) {
      builder.problem("its %s is not a valid duration".formatted(field));
    }
    return read;
  }
}
