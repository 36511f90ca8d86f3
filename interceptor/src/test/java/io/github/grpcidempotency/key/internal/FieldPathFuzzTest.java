package io.github.grpcidempotency.key.internal;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import com.google.protobuf.Message;
import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.EveryKind;
import io.github.grpcidempotency.testing.v1.OlderSyntax;
import io.github.grpcidempotency.testing.v1.Thing;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Any text is the path of a field, or none. */
class FieldPathFuzzTest {
  private static final List<Message> MESSAGES =
      List.of(
          CreateThingRequest.getDefaultInstance(),
          CreateThingRequest.newBuilder()
              .setName("a name")
              .putLabels("a", "1")
              .setThing(Thing.newBuilder().setId("an id").setName("its name"))
              .setSentAt("now")
              .build(),
          EveryKind.getDefaultInstance(),
          everyKind(),
          OlderSyntax.getDefaultInstance(),
          olderSyntax());

  @FuzzTest
  void aPathSelectsOneFieldAndChangesNoOtherOrSelectsNone(byte[] input) {
    String path = new String(input, StandardCharsets.UTF_8);
    for (Message message : MESSAGES) {
      FieldPath.of(message.getDescriptorForType(), path)
          .ifPresent(field -> check(field, path, message));
      KeySource.content(path).problems(message.getDescriptorForType());
      KeySource.requestField(path).problems(message.getDescriptorForType());
      Fingerprinter.wholeRequest().ignoringSince(1, path).fingerprint(message);
    }
  }

  private static void check(FieldPath field, String path, Message message) {
    List<String> all = leaves(message);
    List<String> below = all.stream().filter(leaf -> isAtOrBelow(leaf, path)).toList();
    List<String> others = all.stream().filter(leaf -> !isAtOrBelow(leaf, path)).toList();

    assertThat(leaves(field.without(message))).isEqualTo(others);
    assertThat(leaves(field.only(message))).isEqualTo(below);
    if (field.isSingular(JavaType.STRING)) {
      Optional<Object> value = field.read(message);
      assertThat(value.isEmpty() || value.get() instanceof String).isTrue();
    }
  }

  private static boolean isAtOrBelow(String leaf, String path) {
    return leaf.startsWith(path + "=") || leaf.startsWith(path + ".");
  }

  /** Returns every value in a message, after its path. */
  private static List<String> leaves(Message message) {
    List<String> leaves = new ArrayList<>();
    collect("", message, leaves);
    return leaves;
  }

  private static void collect(String path, Message message, List<String> leaves) {
    for (Map.Entry<FieldDescriptor, Object> entry : message.getAllFields().entrySet()) {
      FieldDescriptor field = entry.getKey();
      String at = path + field.getName();
      List<?> values = field.isRepeated() ? (List<?>) entry.getValue() : List.of(entry.getValue());
      for (Object value : values) {
        if (value instanceof Message nested && !field.isMapField()) {
          collect(at + ".", nested, leaves);
        } else {
          leaves.add(at + "=" + value);
        }
      }
    }
  }

  private static EveryKind everyKind() {
    EveryKind leaf =
        EveryKind.newBuilder()
            .setADouble(Double.NaN)
            .setAString("leaf")
            .setWord("word")
            .setMaybe(0)
            .addInts(1)
            .addInts(2)
            .putNumbers(3, 4)
            .setThing(Thing.newBuilder().setId("an id").setName("its name"))
            .setSent("now")
            .build();
    return leaf.toBuilder()
        .setWithin(leaf)
        .setMessage(leaf)
        .addAllWithin(leaf)
        .addAllWithin(leaf.toBuilder().clearThing().addAllWithin(leaf))
        .putMessages(5, leaf)
        .build();
  }

  private static OlderSyntax olderSyntax() {
    OlderSyntax leaf = OlderSyntax.newBuilder().setName("leaf").setWord("w").build();
    return leaf.toBuilder()
        .setWithin(leaf)
        .addAllWithin(leaf)
        .setExtension(OlderSyntax.own, leaf)
        .build();
  }
}
