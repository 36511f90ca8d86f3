package io.github.grpcidempotency.cli;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.DescriptorProtos.MethodDescriptorProto;
import com.google.protobuf.DescriptorProtos.MethodOptions;
import com.google.protobuf.DescriptorProtos.ServiceDescriptorProto;
import com.google.protobuf.Descriptors.FileDescriptor;
import io.github.grpcidempotency.proto.v1.Execution;
import io.github.grpcidempotency.proto.v1.Procedure;
import io.github.grpcidempotency.proto.v1.ProcedureProto;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.Set;

/** The schema of the orders' service, as {@code protoc --include_imports} writes it. */
final class OrderSchema {
  private OrderSchema() {}

  /** Returns the option of a procedure that the database is made for. */
  static Procedure sound() {
    return Procedure.newBuilder()
        .setResourceType("order")
        .setResourceIdField("id")
        .setExecution(Execution.EXECUTION_TRANSACTIONAL)
        .build();
  }

  static Path write(Path folder, Procedure option) throws IOException {
    Path file = folder.resolve("orders.desc");
    Files.write(file, set(option).toByteArray());
    return file;
  }

  private static FileDescriptorSet set(Procedure option) {
    FileDescriptorSet.Builder set = FileDescriptorSet.newBuilder();
    Set<FileDescriptor> imports = new LinkedHashSet<>();
    collect(ProcedureProto.getDescriptor(), imports);
    imports.forEach(file -> set.addFile(file.toProto()));
    return set.addFile(orders(option)).build();
  }

  private static void collect(FileDescriptor file, Set<FileDescriptor> into) {
    file.getDependencies().forEach(imported -> collect(imported, into));
    into.add(file);
  }

  private static FileDescriptorProto orders(Procedure option) {
    return FileDescriptorProto.newBuilder()
        .setName("orders.proto")
        .setPackage("orders.v1")
        .setSyntax("proto3")
        .addDependency(ProcedureProto.getDescriptor().getName())
        .addMessageType(message("CreateOrderRequest"))
        .addMessageType(message("Order"))
        .addService(
            ServiceDescriptorProto.newBuilder()
                .setName("OrderService")
                .addMethod(
                    MethodDescriptorProto.newBuilder()
                        .setName("CreateOrder")
                        .setInputType(".orders.v1.CreateOrderRequest")
                        .setOutputType(".orders.v1.Order")
                        .setOptions(
                            MethodOptions.newBuilder()
                                .setExtension(ProcedureProto.procedure, option))))
        .build();
  }

  private static DescriptorProto message(String name) {
    return DescriptorProto.newBuilder()
        .setName(name)
        .addField(
            FieldDescriptorProto.newBuilder()
                .setName("id")
                .setNumber(1)
                .setType(FieldDescriptorProto.Type.TYPE_STRING)
                .setLabel(FieldDescriptorProto.Label.LABEL_OPTIONAL))
        .build();
  }
}
