package io.github.grpcidempotency.procedure;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.Duration;
import com.google.protobuf.Message;
import io.github.grpcidempotency.proto.v1.ProcedureProto;
import io.grpc.protobuf.ProtoMethodDescriptorSupplier;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
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
      List<FieldDescriptor> path = resourceIdPath();
      builder.resource(resourceType(), response -> read(response, path));
    }
    if (declared.hasRetention()) {
      Duration retention = declared.getRetention();
      builder.retention(java.time.Duration.ofSeconds(retention.getSeconds(), retention.getNanos()));
    }
    switch (declared.getOutagePolicy()) {
      case FAIL_OPEN -> builder.outage(OutagePolicy.FAIL_OPEN);
      case FAIL_CLOSED -> builder.outage(OutagePolicy.FAIL_CLOSED);
      case OUTAGE_POLICY_UNSPECIFIED, UNRECOGNIZED -> {}
    }
    return builder;
  }

  private List<FieldDescriptor> resourceIdPath() {
    List<FieldDescriptor> path = new ArrayList<>();
    Descriptor message = schema.getOutputType();
    for (String name : declared.getResourceIdField().split("\\.", -1)) {
      FieldDescriptor field = message == null ? null : message.findFieldByName(name);
      if (field == null || field.isRepeated()) {
        throw noSuchField();
      }
      path.add(field);
      message =
          field.getJavaType() == FieldDescriptor.JavaType.MESSAGE ? field.getMessageType() : null;
    }
    if (path.get(path.size() - 1).getJavaType() != FieldDescriptor.JavaType.STRING) {
      throw noSuchField();
    }
    return List.copyOf(path);
  }

  private ResourceType resourceType() {
    try {
      return ResourceType.of(declared.getResourceType());
    } catch (IllegalArgumentException malformed) {
      throw wrong(malformed.getMessage());
    }
  }

  private IllegalArgumentException noSuchField() {
    return wrong(
        "resource_id_field \"%s\" is not a singular string field of %s"
            .formatted(declared.getResourceIdField(), schema.getOutputType().getFullName()));
  }

  private IllegalArgumentException wrong(@Nullable String problem) {
    return new IllegalArgumentException(
        "%s/%s: %s".formatted(schema.getService().getFullName(), schema.getName(), problem));
  }

  private static UUID read(Message response, List<FieldDescriptor> path) {
    Object value = response;
    for (FieldDescriptor field : path) {
      value = ((Message) value).getField(field);
    }
    return UUID.fromString((String) value);
  }
}
