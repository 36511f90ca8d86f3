package io.github.grpcidempotency.procedure.internal;

import com.google.protobuf.DescriptorProtos.MethodOptions;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.ExtensionLite;
import com.google.protobuf.Message;
import io.github.grpcidempotency.proto.v1.Procedure;
import io.github.grpcidempotency.proto.v1.ProcedureProto;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.MethodDescriptor.PrototypeMarshaller;
import io.grpc.protobuf.ProtoMethodDescriptorSupplier;
import java.util.Optional;
import java.util.stream.Stream;

/** The schema of a method: its messages, and its {@code (idempotency.v1.procedure)} option. */
public final class MethodSchema {
  /** An {@code ExtensionLite}, because every version of protobuf has the methods that take one. */
  private static final ExtensionLite<MethodOptions, Procedure> OPTION = ProcedureProto.procedure;

  private MethodSchema() {}

  /** Returns the schema of a method; empty for a method that is not generated from a schema. */
  public static Optional<MethodDescriptor> schema(io.grpc.MethodDescriptor<?, ?> method) {
    return method.getSchemaDescriptor() instanceof ProtoMethodDescriptorSupplier supplier
        ? Optional.of(supplier.getMethodDescriptor())
        : Optional.empty();
  }

  /** Returns the option of a generated method, if it has one. */
  public static Optional<Procedure> optionOf(io.grpc.MethodDescriptor<?, ?> method) {
    return schema(method).flatMap(MethodSchema::option);
  }

  /** Returns the option of a method, if it has one. */
  public static Optional<Procedure> option(MethodDescriptor schema) {
    return schema.getOptions().hasExtension(OPTION)
        ? Optional.of(schema.getOptions().getExtension(OPTION))
        : Optional.empty();
  }

  /** Returns the schemas of all methods with the option in the service of a method. */
  public static Stream<MethodDescriptor> ofServiceOf(io.grpc.MethodDescriptor<?, ?> method) {
    return schema(method).stream()
        .flatMap(schema -> schema.getService().getMethods().stream())
        .filter(sibling -> option(sibling).isPresent());
  }

  public static String fullName(MethodDescriptor schema) {
    return io.grpc.MethodDescriptor.generateFullMethodName(
        schema.getService().getFullName(), schema.getName());
  }

  /** Returns the type of the request; empty if it is not a protobuf message. */
  public static Optional<Descriptor> request(io.grpc.MethodDescriptor<?, ?> method) {
    return messages(method.getRequestMarshaller());
  }

  /** Returns the type of the response; empty if it is not a protobuf message. */
  public static Optional<Descriptor> response(io.grpc.MethodDescriptor<?, ?> method) {
    return messages(method.getResponseMarshaller());
  }

  private static Optional<Descriptor> messages(Marshaller<?> marshaller) {
    return marshaller instanceof PrototypeMarshaller<?> protobuf
            && protobuf.getMessagePrototype() instanceof Message prototype
        ? Optional.of(prototype.getDescriptorForType())
        : Optional.empty();
  }
}
