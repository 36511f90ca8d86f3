package io.github.grpcidempotency.key;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import com.google.protobuf.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The way to a field of a message: field names joined by dots, as in a field mask. All but the last
 * are singular messages.
 */
public final class FieldPath {
  private final List<FieldDescriptor> fields;

  private FieldPath(List<FieldDescriptor> fields) {
    this.fields = List.copyOf(fields);
  }

  /** Returns the path within messages of a type; empty if it leads nowhere. */
  public static Optional<FieldPath> of(Descriptor type, String path) {
    List<FieldDescriptor> fields = new ArrayList<>();
    Optional<Descriptor> message = Optional.of(type);
    for (String name : path.split("\\.", -1)) {
      Optional<FieldDescriptor> field = message.map(present -> present.findFieldByName(name));
      if (field.isEmpty()) {
        return Optional.empty();
      }
      fields.add(field.get());
      message = field.filter(FieldPath::isMessage).map(FieldDescriptor::getMessageType);
    }
    return Optional.of(new FieldPath(fields));
  }

  /** Returns whether the field holds at most one value of that type. */
  public boolean isSingular(JavaType type) {
    return !last().isRepeated() && last().getJavaType() == type;
  }

  /** Returns the field's value, or its default; empty if a message on the way is not set. */
  public Optional<Object> read(Message message) {
    Message at = message;
    for (FieldDescriptor field : fields.subList(0, fields.size() - 1)) {
      if (!at.hasField(field)) {
        return Optional.empty();
      }
      at = (Message) at.getField(field);
    }
    return Optional.of(at.getField(last()));
  }

  /** Returns the message without the field. */
  public Message without(Message message) {
    return without(message, 0);
  }

  /** Returns a message in which nothing is set but the field. */
  public Message only(Message message) {
    return only(message, 0);
  }

  private Message without(Message message, int depth) {
    FieldDescriptor field = fields.get(depth);
    Message.Builder builder = message.toBuilder();
    if (depth == fields.size() - 1) {
      return builder.clearField(field).build();
    }
    if (!message.hasField(field)) {
      return message;
    }
    return builder.setField(field, without((Message) message.getField(field), depth + 1)).build();
  }

  private Message only(Message message, int depth) {
    FieldDescriptor field = fields.get(depth);
    Message.Builder builder = message.newBuilderForType();
    boolean set =
        field.isRepeated() ? message.getRepeatedFieldCount(field) > 0 : isSet(message, field);
    if (!set) {
      return builder.build();
    }
    Object value = message.getField(field);
    return builder
        .setField(field, depth == fields.size() - 1 ? value : only((Message) value, depth + 1))
        .build();
  }

  private static boolean isSet(Message message, FieldDescriptor field) {
    return !field.hasPresence() || message.hasField(field);
  }

  private static boolean isMessage(FieldDescriptor field) {
    return !field.isRepeated() && field.getJavaType() == JavaType.MESSAGE;
  }

  private FieldDescriptor last() {
    return fields.get(fields.size() - 1);
  }
}
