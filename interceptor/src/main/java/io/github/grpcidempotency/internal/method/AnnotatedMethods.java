package io.github.grpcidempotency.internal.method;

import com.google.protobuf.DescriptorProtos.MethodOptions;
import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.ExtensionLite;
import io.github.grpcidempotency.proto.v1.Procedure;
import io.github.grpcidempotency.proto.v1.ProcedureProto;
import io.grpc.protobuf.ProtoMethodDescriptorSupplier;
import java.util.Optional;
import java.util.stream.Stream;

/** Methods whose schema has the {@code (idempotency.v1.procedure)} option. */
public final class AnnotatedMethods {
  /**
   * An {@code ExtensionLite}, because every version of protobuf has the methods that accept this
   * type.
   */
  private static final ExtensionLite<MethodOptions, Procedure> OPTION = ProcedureProto.procedure;

  private AnnotatedMethods() {}

  /** Returns the schema of a method; empty for a method that is not generated from a schema. */
  public static Optional<MethodDescriptor> schema(io.grpc.MethodDescriptor<?, ?> method) {
    return method.getSchemaDescriptor() instanceof ProtoMethodDescriptorSupplier supplier
        ? Optional.of(supplier.getMethodDescriptor())
        : Optional.empty();
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

  /** Returns the name of a method in gRPC's form. */
  public static String fullName(MethodDescriptor schema) {
    return io.grpc.MethodDescriptor.generateFullMethodName(
        schema.getService().getFullName(), schema.getName());
  }
}
