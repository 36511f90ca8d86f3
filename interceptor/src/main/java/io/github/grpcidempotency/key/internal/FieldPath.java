package io.github.grpcidempotency.key.internal;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import com.google.protobuf.Message;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * The path to a field of a message: field names joined by dots, as in a field mask. All fields but
 * the last are messages. A repeated field stands for all its elements. A path cannot lead into a
 * map.
 */
public record FieldPath(List<FieldDescriptor> fields) {
  public FieldPath {
    fields = List.copyOf(fields);
  }

  /** Returns the path within messages of a type; empty if there is no such field. */
  public static Optional<FieldPath> of(Descriptor type, String path) {
    List<FieldDescriptor> fields = new ArrayList<>();
    Optional<Descriptor> message = Optional.of(type);
    for (String name : path.split("\\.", -1)) {
      // A type's name space also contains extensions that are declared in it, often of other types.
      Optional<FieldDescriptor> field =
          message
              .map(present -> present.findFieldByName(name))
              .filter(found -> !found.isExtension());
      if (field.isEmpty()) {
        return Optional.empty();
      }
      fields.add(field.get());
      message = field.filter(FieldPath::isMessage).map(FieldDescriptor::getMessageType);
    }
    return Optional.of(new FieldPath(fields));
  }

  /** Returns whether the path has no repeated field and the field is of that type. */
  public boolean isSingular(JavaType type) {
    return fields.stream().noneMatch(FieldDescriptor::isRepeated) && last().getJavaType() == type;
  }

  public boolean isSingularInteger() {
    return isSingular(JavaType.LONG) || isSingular(JavaType.INT);
  }

  /** Returns the type of the field as in a schema, such as {@code int64}. */
  public String type() {
    return last().getType().name().toLowerCase(Locale.ROOT);
  }

  public boolean isRequired() {
    return last().isRequired();
  }

  /**
   * Returns the value of a singular field, or its default; empty if a message on the path is not
   * set.
   */
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

  /** Returns the value of a singular field of text or of an integer type, as text. */
  public Optional<String> readText(Message message) {
    return read(message)
        .map(
            value ->
                switch (last().getType()) {
                  case UINT64, FIXED64 -> Long.toUnsignedString((Long) value);
                  case UINT32, FIXED32 -> Integer.toUnsignedString((Integer) value);
                  default -> value.toString();
                });
  }

  /** Returns a message without some of its fields. */
  public static Message without(Message message, Collection<String> paths) {
    Message left = message;
    for (String path : paths) {
      Optional<FieldPath> field = of(message.getDescriptorForType(), path);
      left = field.isPresent() ? field.get().without(left) : left;
    }
    return left;
  }

  public Message without(Message message) {
    return without(message, 0);
  }

  /** Returns a message in which only the field is set. */
  public Message only(Message message) {
    return only(message, 0);
  }

  private Message without(Message message, int depth) {
    FieldDescriptor field = fields.get(depth);
    return depth == fields.size() - 1
        ? message.toBuilder().clearField(field).buildPartial()
        : withEach(message.toBuilder(), message, field, below -> without(below, depth + 1));
  }

  private Message only(Message message, int depth) {
    FieldDescriptor field = fields.get(depth);
    Message.Builder nothing = message.newBuilderForType();
    if (!isSet(message, field)) {
      return nothing.buildPartial();
    }
    return depth == fields.size() - 1
        ? nothing.setField(field, message.getField(field)).buildPartial()
        : withEach(nothing, message, field, below -> only(below, depth + 1));
  }

  private static Message withEach(
      Message.Builder built,
      Message message,
      FieldDescriptor field,
      UnaryOperator<Message> change) {
    if (!isSet(message, field)) {
      return built.buildPartial();
    }
    if (!field.isRepeated()) {
      return built.setField(field, change.apply((Message) message.getField(field))).buildPartial();
    }
    built.clearField(field);
    for (Object element : (List<?>) message.getField(field)) {
      built.addRepeatedField(field, change.apply((Message) element));
    }
    return built.buildPartial();
  }

  private static boolean isSet(Message message, FieldDescriptor field) {
    return field.isRepeated()
        ? message.getRepeatedFieldCount(field) > 0
        : !field.hasPresence() || message.hasField(field);
  }

  private static boolean isMessage(FieldDescriptor field) {
    return !field.isMapField() && field.getJavaType() == JavaType.MESSAGE;
  }

  private FieldDescriptor last() {
    return fields.get(fields.size() - 1);
  }
}
