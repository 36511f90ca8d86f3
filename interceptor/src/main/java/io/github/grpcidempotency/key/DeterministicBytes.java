package io.github.grpcidempotency.key;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.UnknownFieldSet;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * Serializes a message. The bytes do not depend on the order in which its map entries and fields
 * arrived. All fields, known and unknown, are in the order of their numbers. A field that an older
 * server does not know is therefore at the same place as on a newer server.
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
        || (mayHoldMessages(message.getDescriptorForType())
            && message.getAllFields().entrySet().stream()
                .filter(field -> isMessage(field.getKey()))
                .anyMatch(
                    field -> values(field).stream().anyMatch(DeterministicBytes::hasUnknown)));
  }

  /** Avoids listing the fields of a flat message, which is expensive. */
  private static boolean mayHoldMessages(Descriptor type) {
    if (type.isExtendable()) {
      return true;
    }
    for (FieldDescriptor field : type.getFields()) {
      if (isMessage(field)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns the fields in the order of their numbers, which an {@code UnknownFieldSet} preserves.
   */
  private static UnknownFieldSet ordered(Message message) {
    Message.Builder flat = message.toBuilder();
    UnknownFieldSet.Builder nested = UnknownFieldSet.newBuilder();
    for (Map.Entry<FieldDescriptor, Object> field : message.getAllFields().entrySet()) {
      if (isMessage(field.getKey())) {
        flat.clearField(field.getKey());
        nested.mergeField(field.getKey().getNumber(), nested(field));
      }
    }
    return parsed(flat.buildPartial()).mergeFrom(nested.build()).build();
  }

  private static UnknownFieldSet.Field nested(Map.Entry<FieldDescriptor, Object> field) {
    UnknownFieldSet.Field.Builder nested = UnknownFieldSet.Field.newBuilder();
    if (field.getKey().isMapField()) {
      values(field).stream()
          .sorted(Comparator.comparing(DeterministicBytes::keyOf))
          .forEach(entry -> nested.addLengthDelimited(entry(entry)));
    } else {
      values(field).forEach(value -> nested.addLengthDelimited(bytes(value)));
    }
    return nested.build();
  }

  /** Serializes a map entry, always with both fields, even if they have default values. */
  private static ByteString entry(Message entry) {
    FieldDescriptor value = valueField(entry.getDescriptorForType());
    return parsed(entry)
        .addField(
            value.getNumber(),
            UnknownFieldSet.Field.newBuilder()
                .addLengthDelimited(bytes((Message) entry.getField(value)))
                .build())
        .build()
        .toByteString();
  }

  private static UnknownFieldSet.Builder parsed(Message message) {
    try {
      return UnknownFieldSet.newBuilder().mergeFrom(serialized(message));
    } catch (InvalidProtocolBufferException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  private static ByteString bytes(Message value) {
    return ByteString.copyFrom(of(value));
  }

  /** Returns whether a field holds messages, itself or as the values of a map. */
  private static boolean isMessage(FieldDescriptor field) {
    return field.isMapField()
        ? isMessage(valueField(field.getMessageType()))
        : field.getJavaType() == JavaType.MESSAGE && field.getType() != FieldDescriptor.Type.GROUP;
  }

  private static FieldDescriptor valueField(Descriptor mapEntry) {
    return mapEntry.findFieldByNumber(2);
  }

  /** Returns the key of a map entry. Entries are serialized in the order of their keys. */
  @SuppressWarnings("unchecked") // map keys are numbers, booleans or strings
  private static Comparable<Object> keyOf(Message mapEntry) {
    return (Comparable<Object>)
        mapEntry.getField(mapEntry.getDescriptorForType().findFieldByNumber(1));
  }

  @SuppressWarnings("unchecked") // a message field holds messages
  private static List<Message> values(Map.Entry<FieldDescriptor, Object> field) {
    return field.getKey().isRepeated()
        ? (List<Message>) field.getValue()
        : List.of((Message) field.getValue());
  }
}
