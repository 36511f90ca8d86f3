package io.github.grpcidempotency.procedure;

import com.google.common.collect.Sets;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.Duration;
import com.google.protobuf.Message;
import com.google.rpc.Code;
import io.github.grpcidempotency.key.FieldPath;
import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.proto.v1.ProcedureProto;
import io.github.grpcidempotency.proto.v1.RetentionClass;
import io.grpc.protobuf.ProtoMethodDescriptorSupplier;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The {@code (idempotency.v1.procedure)} option of one method, as the compiled schema carries it.
 */
record MethodOption(
    MethodDescriptor schema, io.github.grpcidempotency.proto.v1.Procedure declared) {

  static MethodOption of(io.grpc.MethodDescriptor<?, ?> method) {
    return find(method)
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    method.getFullMethodName() + " has no (idempotency.v1.procedure) option"));
  }

  static Optional<MethodOption> find(io.grpc.MethodDescriptor<?, ?> method) {
    if (!(method.getSchemaDescriptor() instanceof ProtoMethodDescriptorSupplier supplier)) {
      return Optional.empty();
    }
    MethodDescriptor schema = supplier.getMethodDescriptor();
    return schema.getOptions().hasExtension(ProcedureProto.procedure)
        ? Optional.of(
            new MethodOption(schema, schema.getOptions().getExtension(ProcedureProto.procedure)))
        : Optional.empty();
  }

  <ResponseT extends Message> ProcedureBuilder<ResponseT> describe(
      ProcedureBuilder<ResponseT> builder) {
    if (!declared.getResourceType().isEmpty()) {
      FieldPath path = resourceIdPath();
      builder.resource(resourceType(), response -> resourceId(path, response));
    }
    describeKey(builder);
    describeRetention(builder);
    describeFailures(builder);
    builder.fingerprint(fingerprinter());
    builder.omit(declared.getOmittedFieldsList().toArray(String[]::new));
    if (declared.hasAttach()) {
      builder.inFlight(InFlightPolicy.attach(duration(declared.getAttach())));
    }
    switch (declared.getOutagePolicy()) {
      case FAIL_OPEN -> builder.outage(OutagePolicy.FAIL_OPEN);
      case FAIL_CLOSED -> builder.outage(OutagePolicy.FAIL_CLOSED);
      case OUTAGE_POLICY_UNSPECIFIED, UNRECOGNIZED -> {}
    }
    switch (declared.getExecution()) {
      case RESERVED -> builder.execution(Execution.RESERVED);
      case RESERVED_SAME_DATABASE -> builder.execution(Execution.RESERVED_SAME_DATABASE);
      case TRANSACTIONAL -> builder.execution(Execution.TRANSACTIONAL);
      case EXECUTION_UNSPECIFIED, UNRECOGNIZED -> {}
    }
    return builder;
  }

  private void describeKey(ProcedureBuilder<?> builder) {
    if (declared.getKeySourcesCount() > 0) {
      builder.keyFrom(
          KeySource.firstOf(
              declared.getKeySourcesList().stream()
                  .map(source -> new KeySourceOption(source, this::wrong).toSource())
                  .toArray(KeySource[]::new)));
    }
    switch (declared.getKeyPolicy()) {
      case OPTIONAL -> builder.keyPolicy(KeyPolicy.OPTIONAL);
      case REQUIRED -> builder.keyPolicy(KeyPolicy.REQUIRED);
      case DERIVED -> builder.keyPolicy(KeyPolicy.DERIVED);
      case HANDLER_INTERNAL -> builder.keyPolicy(KeyPolicy.HANDLER_INTERNAL);
      case PROHIBITED -> builder.keyPolicy(KeyPolicy.PROHIBITED);
      case KEY_POLICY_UNSPECIFIED, UNRECOGNIZED -> {}
    }
  }

  private void describeRetention(ProcedureBuilder<?> builder) {
    if (declared.hasRetention()
        && declared.getRetentionClass() != RetentionClass.RETENTION_CLASS_UNSPECIFIED) {
      throw wrong("it has both a retention and a retention_class");
    }
    if (declared.hasRetention()) {
      builder.retention(duration(declared.getRetention()));
    }
    switch (declared.getRetentionClass()) {
      case INTERACTIVE -> retain(builder, "INTERACTIVE");
      case WEBHOOK -> retain(builder, "WEBHOOK");
      case FINANCIAL -> retain(builder, "FINANCIAL");
      case RETENTION_CLASS_UNSPECIFIED, UNRECOGNIZED -> {}
    }
    if (declared.getRetainedFromLastReplay()) {
      builder.retainFromLastReplay();
    }
  }

  private void describeFailures(ProcedureBuilder<?> builder) {
    try {
      builder.failures(
          new FailurePolicy(
              codes(declared.getTerminalCodesList()),
              codes(declared.getUnknownCodesList()),
              Set.copyOf(declared.getRecordedTrailersList())));
    } catch (IllegalArgumentException contradictory) {
      throw wrong(contradictory.getMessage());
    }
  }

  /** An unknown name is an {@link IllegalArgumentException}. */
  private static Set<Code> codes(List<String> names) {
    return names.stream().map(Code::valueOf).collect(Collectors.toSet());
  }

  /** Fields say themselves since which version they are left out. */
  private Fingerprinter fingerprinter() {
    return ignored(Fingerprinter.wholeRequest(), schema.getInputType(), "", Set.of());
  }

  private static Fingerprinter ignored(
      Fingerprinter rules, Descriptor type, String prefix, Set<Descriptor> above) {
    Fingerprinter found = rules;
    for (FieldDescriptor field : type.getFields()) {
      String path = prefix + field.getName();
      int since = field.getOptions().getExtension(ProcedureProto.fingerprintIgnoredSince);
      if (since > 0) {
        found = found.ignoringSince(since, path);
      } else if (field.getJavaType() == JavaType.MESSAGE
          && !field.isRepeated()
          && !above.contains(field.getMessageType())) {
        found =
            ignored(
                found,
                field.getMessageType(),
                path + ".",
                Sets.union(above, Set.of(type)).immutableCopy());
      }
    }
    return found;
  }

  private FieldPath resourceIdPath() {
    return FieldPath.of(schema.getOutputType(), declared.getResourceIdField())
        .filter(path -> path.isSingular(JavaType.STRING))
        .orElseThrow(
            () ->
                wrong(
                    "resource_id_field \"%s\" is not a singular string field of %s"
                        .formatted(
                            declared.getResourceIdField(), schema.getOutputType().getFullName())));
  }

  private ResourceType resourceType() {
    try {
      return ResourceType.of(declared.getResourceType());
    } catch (IllegalArgumentException malformed) {
      throw wrong(malformed.getMessage());
    }
  }

  private IllegalArgumentException wrong(@Nullable String problem) {
    return new IllegalArgumentException(
        "%s/%s: %s".formatted(schema.getService().getFullName(), schema.getName(), problem));
  }

  private static void retain(ProcedureBuilder<?> builder, String retentionClass) {
    builder.retention(io.github.grpcidempotency.procedure.RetentionClass.valueOf(retentionClass));
  }

  private static java.time.Duration duration(Duration duration) {
    return java.time.Duration.ofSeconds(duration.getSeconds(), duration.getNanos());
  }

  private static UUID resourceId(FieldPath path, Message response) {
    return UUID.fromString((String) path.read(response).orElse(""));
  }
}
