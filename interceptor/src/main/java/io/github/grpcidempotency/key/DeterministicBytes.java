package io.github.grpcidempotency.key;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.UnknownFieldSet;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;

/**
 * A message's bytes, the same for every order in which its maps and fields arrived. What a server
 * does not know of a message, because its schema is older than the client's, stands where a newer
 * server has it: all fields are in the order of their numbers.
 */
final class DeterministicBytes {
  private DeterministicBytes() {}

  static byte[] of(Message message) {
    return hasUnknown(message) ? ordered(message).toByteArray() : serialized(message);
  }

  private static byte[] serialized(Message message) {
    byte[] bytes = new byte[message.getSerializedSize()];
    CodedOutputStream output = CodedOutputStream.newInstance(bytes);
    output.useDeterministicSerialization();
    try {
      message.writeTo(output);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    output.checkNoSpaceLeft();
    return bytes;
  }

  private static boolean hasUnknown(Message message) {
    return !message.getUnknownFields().asMap().isEmpty()
        || message.getAllFields().entrySet().stream()
            .filter(field -> isMessage(field.getKey()))
            .anyMatch(field -> values(field).stream().anyMatch(DeterministicBytes::hasUnknown));
  }

  /** A set of unknown fields keeps, and writes, them in the order of their numbers. */
  private static UnknownFieldSet ordered(Message message) {
    Message.Builder flat = message.toBuilder();
    UnknownFieldSet.Builder nested = UnknownFieldSet.newBuilder();
    for (Map.Entry<FieldDescriptor, Object> field : message.getAllFields().entrySet()) {
      if (isMessage(field.getKey())) {
        flat.clearField(field.getKey());
        UnknownFieldSet.Field.Builder values = UnknownFieldSet.Field.newBuilder();
        values(field).forEach(value -> values.addLengthDelimited(bytes(value)));
        nested.mergeField(field.getKey().getNumber(), values.build());
      }
    }
    try {
      return UnknownFieldSet.newBuilder()
          .mergeFrom(serialized(flat.build()))
          .mergeFrom(nested.build())
          .build();
    } catch (InvalidProtocolBufferException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  private static ByteString bytes(Message value) {
    return ByteString.copyFrom(of(value));
  }

  /** The entries of a map have no order but that of its deterministic serialization. */
  private static boolean isMessage(FieldDescriptor field) {
    return field.getJavaType() == JavaType.MESSAGE
        && field.getType() != FieldDescriptor.Type.GROUP
        && !field.isMapField();
  }

  @SuppressWarnings("unchecked") // a message field holds messages
  private static List<Message> values(Map.Entry<FieldDescriptor, Object> field) {
    return field.getKey().isRepeated()
        ? (List<Message>) field.getValue()
        : List.of((Message) field.getValue());
  }
}
