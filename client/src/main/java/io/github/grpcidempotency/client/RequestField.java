package io.github.grpcidempotency.client;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import com.google.protobuf.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A field of a request, by its path: field names joined by dots. Only the last can be repeated. */
record RequestField(List<FieldDescriptor> path) {

  /** Returns the field; empty if the path does not lead to one. */
  static Optional<RequestField> of(Descriptor request, String path) {
    List<FieldDescriptor> fields = new ArrayList<>();
    Optional<Descriptor> type = Optional.of(request);
    for (String name : path.split("\\.", -1)) {
      Optional<FieldDescriptor> field =
          type.map(within -> within.findFieldByName(name)).filter(found -> !found.isExtension());
      if (field.isEmpty()) {
        return Optional.empty();
      }
      fields.add(field.get());
      type =
          field
              .filter(found -> found.getJavaType() == JavaType.MESSAGE && !found.isRepeated())
              .map(FieldDescriptor::getMessageType);
    }
    return Optional.of(new RequestField(List.copyOf(fields)));
  }

  /** Returns whether the field is a singular string. */
  boolean isText() {
    return last().getJavaType() == JavaType.STRING && !last().isRepeated();
  }

  /** Returns whether the field can be set to the empty text. */
  boolean hasPresence() {
    return last().hasPresence();
  }

  /**
   * Returns whether the user has set the field, as defined by AIP-4235: by its presence, or, for a
   * field without presence, by its value.
   */
  boolean isSet(Message request) {
    return parent(request)
        .filter(
            parent ->
                last().isRepeated()
                    ? parent.getRepeatedFieldCount(last()) > 0
                    : parent.hasField(last()))
        .isPresent();
  }

  /** Returns whether the field is set to something other than the empty text. */
  boolean hasContent(Message request) {
    return isSet(request)
        && parent(request).filter(parent -> parent.getField(last()).equals("")).isEmpty();
  }

  /** Returns whether the field is set to a text, in any case. */
  boolean holds(Message request, String text) {
    return parent(request)
        .filter(parent -> text.equalsIgnoreCase(String.valueOf(parent.getField(last()))))
        .isPresent();
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

  private FieldDescriptor last() {
    return path.get(path.size() - 1);
  }

  /** Returns the message that contains the field; empty if the request does not have it. */
  private Optional<Message> parent(Message request) {
    Message at = request;
    for (FieldDescriptor parent : path.subList(0, path.size() - 1)) {
      if (!at.hasField(parent)) {
        return Optional.empty();
      }
      at = (Message) at.getField(parent);
    }
    return Optional.of(at);
  }
}
