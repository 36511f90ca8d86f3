package io.github.grpcidempotency.client;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import com.google.protobuf.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A singular string field of a request, by its path: field names joined by dots. */
record RequestField(List<FieldDescriptor> path) {

  /** Returns the field; empty if the path does not lead to one. */
  static Optional<RequestField> of(Descriptor request, String path) {
    List<FieldDescriptor> fields = new ArrayList<>();
    Optional<Descriptor> type = Optional.of(request);
    for (String name : path.split("\\.", -1)) {
      Optional<FieldDescriptor> field =
          type.map(within -> within.findFieldByName(name))
              .filter(found -> !found.isExtension() && !found.isRepeated());
      if (field.isEmpty()) {
        return Optional.empty();
      }
      fields.add(field.get());
      type =
          field
              .filter(found -> found.getJavaType() == JavaType.MESSAGE)
              .map(FieldDescriptor::getMessageType);
    }
    return fields.get(fields.size() - 1).getJavaType() == JavaType.STRING
        ? Optional.of(new RequestField(List.copyOf(fields)))
        : Optional.empty();
  }

  /**
   * Returns whether the user has set the field, as defined by AIP-4235: by its presence, or, for a
   * field without presence, by its value.
   */
  boolean isSet(Message request) {
    Message at = request;
    for (FieldDescriptor parent : path.subList(0, path.size() - 1)) {
      if (!at.hasField(parent)) {
        return false;
      }
      at = (Message) at.getField(parent);
    }
    FieldDescriptor last = path.get(path.size() - 1);
    return last.hasPresence() ? at.hasField(last) : !((String) at.getField(last)).isEmpty();
  }

  /** Returns the request with the field set, and nothing else changed. */
  Message with(Message request, String value) {
    return with(request, 0, value);
  }

  private Message with(Message message, int depth, String value) {
    FieldDescriptor field = path.get(depth);
    Object content =
        depth == path.size() - 1
            ? value
            : with((Message) message.getField(field), depth + 1, value);
    return message.toBuilder().setField(field, content).buildPartial();
  }
}
