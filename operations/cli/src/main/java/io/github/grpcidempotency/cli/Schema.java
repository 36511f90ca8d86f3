package io.github.grpcidempotency.cli;

import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.Descriptors.ServiceDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.ExtensionRegistry;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import io.github.grpcidempotency.proto.v1.ProcedureProto;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.protobuf.ProtoMethodDescriptorSupplier;
import io.grpc.protobuf.ProtoUtils;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A service's schema, read from the output of {@code protoc --include_imports
 * --descriptor_set_out}.
 */
final class Schema {
  private final Map<String, FileDescriptor> files = new HashMap<>();
  private final Map<String, FileDescriptorProto> unlinked = new HashMap<>();

  private Schema(FileDescriptorSet set) throws DescriptorValidationException {
    set.getFileList().forEach(file -> unlinked.put(file.getName(), file));
    for (FileDescriptorProto file : set.getFileList()) {
      link(file.getName());
    }
  }

  static Schema read(Path file) {
    try {
      return of(Files.readAllBytes(file));
    } catch (IOException unreadable) {
      throw new CommandFailure(ExitCode.USAGE, file + " cannot be read", unreadable);
    } catch (IllegalArgumentException malformed) {
      throw new CommandFailure(
          ExitCode.USAGE,
          ("%s is not a complete set of descriptors; create it with protoc --include_imports"
                  + " --descriptor_set_out: %s")
              .formatted(file, malformed.getMessage()),
          malformed);
    }
  }

  /**
   * Links a set of descriptors.
   *
   * @throws IllegalArgumentException if it is not a set of descriptors, or not complete
   */
  static Schema of(byte[] set) {
    ExtensionRegistry options = ExtensionRegistry.newInstance();
    ProcedureProto.registerAllExtensions(options);
    try {
      return new Schema(FileDescriptorSet.parseFrom(set, options));
    } catch (InvalidProtocolBufferException | DescriptorValidationException malformed) {
      throw new IllegalArgumentException(malformed);
    }
  }

  private FileDescriptor link(String name) throws DescriptorValidationException {
    FileDescriptor linked = files.get(name);
    if (linked != null) {
      return linked;
    }
    FileDescriptorProto file = unlinked.get(name);
    if (file == null) {
      throw new IllegalArgumentException("it lacks " + name);
    }
    List<FileDescriptor> imports = new ArrayList<>();
    for (String imported : file.getDependencyList()) {
      imports.add(link(imported));
    }
    FileDescriptor made = FileDescriptor.buildFrom(file, imports.toArray(FileDescriptor[]::new));
    files.put(name, made);
    return made;
  }

  /** Returns its services as gRPC descriptors, without generated code. */
  List<io.grpc.ServiceDescriptor> services() {
    return files.values().stream()
        .flatMap(file -> file.getServices().stream())
        .map(Schema::service)
        .toList();
  }

  private static io.grpc.ServiceDescriptor service(ServiceDescriptor service) {
    io.grpc.ServiceDescriptor.Builder made =
        io.grpc.ServiceDescriptor.newBuilder(service.getFullName());
    service.getMethods().forEach(method -> made.addMethod(method(method)));
    return made.build();
  }

  private static io.grpc.MethodDescriptor<Message, Message> method(MethodDescriptor method) {
    return io.grpc.MethodDescriptor.<Message, Message>newBuilder()
        .setType(type(method))
        .setFullMethodName(name(method))
        .setRequestMarshaller(
            ProtoUtils.marshaller(
                (Message) DynamicMessage.getDefaultInstance(method.getInputType())))
        .setResponseMarshaller(
            ProtoUtils.marshaller(
                (Message) DynamicMessage.getDefaultInstance(method.getOutputType())))
        .setSafe(
            method.getOptions().getIdempotencyLevel()
                == com.google.protobuf.DescriptorProtos.MethodOptions.IdempotencyLevel
                    .NO_SIDE_EFFECTS)
        .setSchemaDescriptor(new Source(method))
        .build();
  }

  private static MethodType type(MethodDescriptor method) {
    if (method.isClientStreaming()) {
      return method.isServerStreaming() ? MethodType.BIDI_STREAMING : MethodType.CLIENT_STREAMING;
    }
    return method.isServerStreaming() ? MethodType.SERVER_STREAMING : MethodType.UNARY;
  }

  private static String name(MethodDescriptor method) {
    return method.getService().getFullName() + "/" + method.getName();
  }

  /** Gives the library access to the options of a method. */
  private record Source(MethodDescriptor method) implements ProtoMethodDescriptorSupplier {
    @Override
    public MethodDescriptor getMethodDescriptor() {
      return method;
    }

    @Override
    public ServiceDescriptor getServiceDescriptor() {
      return method.getService();
    }

    @Override
    public FileDescriptor getFileDescriptor() {
      return method.getFile();
    }
  }
}
