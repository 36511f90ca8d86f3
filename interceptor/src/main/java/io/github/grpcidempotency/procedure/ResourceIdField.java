package io.github.grpcidempotency.procedure;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import com.google.protobuf.Message;
import io.github.grpcidempotency.internal.field.FieldPath;
import java.util.Locale;
import java.util.Optional;

/** A field that contains a resource id: a singular field of text or of an integer type. */
record ResourceIdField(FieldPath path) {
  /** Returns the field; empty if there is none, or if its type is not that of an id. */
  static Optional<ResourceIdField> of(Descriptor message, String path) {
    return FieldPath.of(message, path)
        .map(ResourceIdField::new)
        .filter(field -> field.path.isSingular(JavaType.STRING) || field.isInteger());
  }

  boolean isInteger() {
    return path.isSingular(JavaType.LONG) || path.isSingular(JavaType.INT);
  }

  /** Returns the type of the field as in a schema, such as {@code int64}. */
  String type() {
    return path.type().name().toLowerCase(Locale.ROOT);
  }

  /** Returns the id in a message; empty if the field is not set, 0, or no valid id. */
  Optional<ResourceId> read(Message message) {
    try {
      return path.read(message)
          .map(this::print)
          .filter(id -> !(isInteger() && id.equals("0")))
          .map(ResourceId::of);
    } catch (IllegalArgumentException noId) {
      return Optional.empty();
    }
  }

  private String print(Object value) {
    return switch (path.type()) {
      case UINT64, FIXED64 -> Long.toUnsignedString((Long) value);
      case UINT32, FIXED32 -> Integer.toUnsignedString((Integer) value);
      default -> value.toString();
    };
  }
}
