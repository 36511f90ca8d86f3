package io.github.grpcidempotency.key;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.UnknownFieldSet;
import io.github.grpcidempotency.proto.v1.ProcedureProto;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What holds for the fingerprint of every request. */
final class RequestProperties {
  private static final Map<Descriptor, Fingerprinter> MARKED = new HashMap<>();

  private RequestProperties() {}

  static void check(Message request) {
    Fingerprinter whole = Fingerprinter.wholeRequest();
    Fingerprinter marked =
        MARKED.computeIfAbsent(request.getDescriptorForType(), Fingerprinter::ofSchema);
    Fingerprint ofWhole = fingerprint(whole, request);
    Fingerprint ofMarked = fingerprint(marked, request);
    for (FieldDescriptor field : request.getAllFields().keySet()) {
      Message other = request.toBuilder().clearField(field).buildPartial();
      assertThat(whole.fingerprint(other)).as(field.getName()).isNotEqualTo(ofWhole);
      assertThat(marked.fingerprint(other).equals(ofMarked))
          .as(field.getName())
          .isEqualTo(isMarked(field));
    }
  }

  /** Returns the one fingerprint that a request has. */
  private static Fingerprint fingerprint(Fingerprinter rules, Message request) {
    Fingerprint fingerprint = rules.fingerprint(request);
    assertThat(rules.fingerprint(parsed(request, request.toByteString())))
        .as("the same request")
        .isEqualTo(fingerprint);
    assertThat(rules.fingerprint(parsed(request, reversed(request))))
        .as("the same request in another order")
        .isEqualTo(fingerprint);
    assertThat(rules.matches(request, fingerprint)).isTrue();
    return fingerprint;
  }

  private static boolean isMarked(FieldDescriptor field) {
    return field.getOptions().getExtension(ProcedureProto.fingerprintIgnoredSince) != 0;
  }

  static Message parsed(Message request, ByteString bytes) {
    try {
      return request.newBuilderForType().mergeFrom(bytes).buildPartial();
    } catch (InvalidProtocolBufferException impossible) {
      throw new AssertionError(impossible);
    }
  }

  /** Returns a request's bytes with its fields, and the entries of its maps, in reverse order. */
  private static ByteString reversed(Message request) {
    UnknownFieldSet fields;
    try {
      fields = UnknownFieldSet.parseFrom(request.toByteString());
    } catch (InvalidProtocolBufferException impossible) {
      throw new AssertionError(impossible);
    }
    List<ByteString> parts = new ArrayList<>();
    for (Map.Entry<Integer, UnknownFieldSet.Field> field : fields.asMap().entrySet()) {
      FieldDescriptor known = request.getDescriptorForType().findFieldByNumber(field.getKey());
      ByteString whole = bytes(field.getKey(), field.getValue());
      List<ByteString> entries =
          field.getValue().getLengthDelimitedList().stream()
              .map(entry -> bytes(field.getKey(), oneValue(entry)))
              .toList();
      boolean isMap = known != null && known.isMapField();
      parts.addAll(isMap && ByteString.copyFrom(entries).equals(whole) ? entries : List.of(whole));
    }
    Collections.reverse(parts);
    return ByteString.copyFrom(parts);
  }

  private static UnknownFieldSet.Field oneValue(ByteString bytes) {
    return UnknownFieldSet.Field.newBuilder().addLengthDelimited(bytes).build();
  }

  private static ByteString bytes(int number, UnknownFieldSet.Field field) {
    return UnknownFieldSet.newBuilder().addField(number, field).build().toByteString();
  }
}
