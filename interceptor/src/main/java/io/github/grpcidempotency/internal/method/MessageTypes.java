package io.github.grpcidempotency.internal.method;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Message;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.MethodDescriptor.PrototypeMarshaller;
import java.util.Optional;

/** The types of a method's messages; empty if they are not protobuf messages. */
public final class MessageTypes {
  private MessageTypes() {}

  /** Returns the type of the request. */
  public static Optional<Descriptor> request(MethodDescriptor<?, ?> method) {
    return of(method.getRequestMarshaller());
  }

  /** Returns the type of the response. */
  public static Optional<Descriptor> response(MethodDescriptor<?, ?> method) {
    return of(method.getResponseMarshaller());
  }

  private static Optional<Descriptor> of(Marshaller<?> marshaller) {
    return marshaller instanceof PrototypeMarshaller<?> protobuf
            && protobuf.getMessagePrototype() instanceof Message prototype
        ? Optional.of(prototype.getDescriptorForType())
        : Optional.empty();
  }
}
