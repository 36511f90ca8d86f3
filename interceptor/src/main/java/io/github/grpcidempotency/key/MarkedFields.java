package io.github.grpcidempotency.key;

import com.google.protobuf.DescriptorProtos.FieldOptions;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import com.google.protobuf.ExtensionLite;
import com.google.protobuf.Message;
import io.github.grpcidempotency.proto.v1.ProcedureProto;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The fields that a request's schema excludes from the fingerprint by the option {@code
 * (idempotency.v1.fingerprint_ignored_since)}, at any depth.
 *
 * @param since the marked fields, and the first versions that exclude them
 * @param holders types that contain a marked field, at any depth
 */
record MarkedFields(Map<FieldDescriptor, Integer> since, Set<Descriptor> holders) {
  /** An {@code ExtensionLite}, because every version of protobuf has the methods that take one. */
  private static final ExtensionLite<FieldOptions, Integer> OPTION =
      ProcedureProto.fingerprintIgnoredSince;

  MarkedFields {
    since = Map.copyOf(since);
    holders = Set.copyOf(holders);
  }

  static MarkedFields none() {
    return new MarkedFields(Map.of(), Set.of());
  }

  static MarkedFields of(Descriptor request) {
    Set<Descriptor> types = new HashSet<>();
    collect(request, types);
    Map<FieldDescriptor, Integer> since = new HashMap<>();
    for (Descriptor type : types) {
      for (FieldDescriptor field : type.getFields()) {
        int version = field.getOptions().getExtension(OPTION);
        if (version != 0) {
          since.put(field, version);
        }
      }
    }
    return since.isEmpty() ? none() : new MarkedFields(since, holders(types, since.keySet()));
  }

  boolean isEmpty() {
    return since.isEmpty();
  }

  /** Returns the newest version in these options; 0 if there is none. */
  int version() {
    return since.values().stream().mapToInt(Integer::intValue).max().orElse(0);
  }

  /** Returns the problems of these options; empty if there are none. */
  List<String> problems() {
    return since.entrySet().stream()
        .filter(field -> field.getValue() < 1 || field.getValue() > Short.MAX_VALUE)
        .map(
            field ->
                "fingerprint_ignored_since of %s must be 1 to 32767, not %d"
                    .formatted(field.getKey().getFullName(), field.getValue()))
        .sorted()
        .toList();
  }

  /** Returns the message without the fields that a version of the rules excludes. */
  Message without(Message message, int rules) {
    if (!holders.contains(message.getDescriptorForType())) {
      return message;
    }
    Message.Builder kept = message.toBuilder();
    for (Map.Entry<FieldDescriptor, Object> entry : message.getAllFields().entrySet()) {
      FieldDescriptor field = entry.getKey();
      if (since.getOrDefault(field, Integer.MAX_VALUE) <= rules) {
        kept.clearField(field);
      } else if (isHolder(field) && field.isRepeated()) {
        kept.clearField(field);
        for (Object element : (List<?>) entry.getValue()) {
          kept.addRepeatedField(field, without((Message) element, rules));
        }
      } else if (isHolder(field)) {
        kept.setField(field, without((Message) entry.getValue(), rules));
      }
    }
    return kept.buildPartial();
  }

  private boolean isHolder(FieldDescriptor field) {
    return field.getJavaType() == JavaType.MESSAGE && holders.contains(field.getMessageType());
  }

  private static void collect(Descriptor type, Set<Descriptor> types) {
    if (types.add(type)) {
      type.getFields().stream()
          .filter(field -> field.getJavaType() == JavaType.MESSAGE)
          .forEach(field -> collect(field.getMessageType(), types));
    }
  }

  private static Set<Descriptor> holders(Set<Descriptor> types, Set<FieldDescriptor> marked) {
    Set<Descriptor> holders = new HashSet<>();
    marked.forEach(field -> holders.add(field.getContainingType()));
    boolean grown = true;
    while (grown) {
      grown = false;
      for (Descriptor type : types) {
        boolean holds =
            type.getFields().stream()
                .anyMatch(
                    field ->
                        field.getJavaType() == JavaType.MESSAGE
                            && holders.contains(field.getMessageType()));
        grown |= holds && holders.add(type);
      }
    }
    return holders;
  }
}
