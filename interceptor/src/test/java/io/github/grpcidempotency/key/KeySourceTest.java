package io.github.grpcidempotency.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class KeySourceTest {
  private static final Caller ALICE = Caller.of(new UUID(1, 2));
  private static final Caller BOB = Caller.of(new UUID(3, 4));
  private static final CreateThingRequest NAMED =
      CreateThingRequest.newBuilder().setName("a-name").putLabels("a", "b").build();

  private static final FieldDescriptor NAME =
      CreateThingRequest.getDescriptor().findFieldByName("name");

  @Test
  void aHeaderIsAKey() {
    assertThat(value(KeySource.metadata("x-key"), call(NAMED, "x-key", "k"))).contains("k");
    assertThat(value(KeySource.metadata("x-key"), call(NAMED))).isEmpty();
  }

  @Test
  void twoHeadersOrAnEmptyOneAreMalformed() {
    assertMalformed(KeySource.metadata("x-key"), call(NAMED, "x-key", "k", "k"));
    assertMalformed(KeySource.metadata("x-key"), call(NAMED, "x-key", ""));
  }

  /** All of its bytes that are no ASCII are read as the same character. */
  @Test
  void aHeaderThatIsNotAsciiIsMalformed() {
    assertMalformed(KeySource.metadata("x-key"), call(NAMED, "x-key", "caf\ufffd"));
    assertMalformed(KeySource.metadata("x-key"), call(NAMED, "x-key", "a\tb"));
    assertThat(value(KeySource.metadata("x-key"), call(NAMED, "x-key", " ~"))).contains(" ~");
  }

  @Test
  void aFieldIsAKeyUnlessItIsEmpty() {
    assertThat(value(KeySource.requestField("name"), call(NAMED))).contains("a-name");
    assertThat(value(KeySource.requestField("name"), call(CreateThingRequest.getDefaultInstance())))
        .isEmpty();
  }

  @Test
  void aFieldThatDoesNotExistOrIsNotAStringIsAProblem() {
    assertThat(KeySource.requestField("nom").problems(NAMED.getDescriptorForType()))
        .singleElement()
        .asString()
        .contains("\"nom\" is not a singular string field");
    assertThat(KeySource.requestField("labels").problems(NAMED.getDescriptorForType())).hasSize(1);
    assertThat(KeySource.requestId().problems(NAMED.getDescriptorForType())).isEmpty();
    assertThat(KeySource.requestId().problems(Thing.getDescriptor())).hasSize(1);
    assertThat(KeySource.metadata("x key").problems(NAMED.getDescriptorForType())).hasSize(1);
    assertThat(KeySource.metadata("x-key-bin").problems(NAMED.getDescriptorForType())).hasSize(1);
    assertThat(KeySource.content("name", "nom").problems(NAMED.getDescriptorForType())).hasSize(1);
    assertThat(
            KeySource.firstOf(KeySource.requestField("a"), KeySource.requestField("b"))
                .prefixed("p:")
                .problems(NAMED.getDescriptorForType()))
        .hasSize(2);
  }

  @Test
  void aFormatChecksTheKeyAndMakesItCanonical() {
    KeySource source = KeySource.metadata("x-key").as(KeyFormat.uuid());

    assertThat(value(source, call(NAMED, "x-key", "0193A0C4-7E5B-7CC1-9D6E-AABBCCDDEEFF")))
        .contains("0193a0c4-7e5b-7cc1-9d6e-aabbccddeeff");
    assertMalformed(source, call(NAMED, "x-key", "k"));
  }

  @Test
  void aFormatReadsNoKeyThatIsTooLong() {
    String longest = "k".repeat(512);
    KeySource source =
        KeySource.metadata("x-key")
            .as(raw -> Optional.of(raw).filter(key -> key.length() <= longest.length()));

    assertThat(value(source, call(NAMED, "x-key", longest))).contains(longest);
    assertThatExceptionOfType(KeyException.class)
        .isThrownBy(() -> value(source, call(NAMED, "x-key", longest + "k")))
        .satisfies(wrong -> assertThat(wrong.problem()).isEqualTo(KeyProblem.TOO_LONG));
    assertThat(KeyFormat.matching(Pattern.compile("k+")).canonicalize(longest + "k")).isEmpty();
  }

  @Test
  void aPrefixKeepsSourcesApart() {
    assertThat(value(KeySource.metadata("x-key").prefixed("a:"), call(NAMED, "x-key", "k")))
        .contains("a:k");
  }

  @Test
  void noCompositionAcceptsAnEmptyKeyOfAnotherSource() {
    KeySource own = call -> Optional.of(FoundKey.of(call.request().getField(NAME).toString()));
    CreateThingRequest unnamed = CreateThingRequest.getDefaultInstance();

    for (KeySource source :
        List.of(
            own,
            own.prefixed("crm:"),
            own.as(Optional::of),
            own.as(Optional::of).prefixed("crm:"),
            KeySource.firstOf(own, KeySource.content("name")).prefixed("crm:"))) {
      assertThatExceptionOfType(KeyException.class)
          .isThrownBy(() -> value(source, call(unnamed)))
          .satisfies(wrong -> assertThat(wrong.problem()).isEqualTo(KeyProblem.EMPTY));
    }
    assertThat(value(own.prefixed("crm:"), call(NAMED))).contains("crm:a-name");
    assertThatExceptionOfType(KeyException.class)
        .isThrownBy(() -> KeySource.metadata("x-key").prefixed("crm:").keyOf(""));
    assertThatExceptionOfType(KeyException.class)
        .isThrownBy(() -> KeySource.metadata("x-key").as(raw -> Optional.of("")).keyOf("k"));
  }

  @Test
  void aPrefixLeavesLessRoomForTheKeyAndTheErrorSaysHowMuch() {
    KeySource source = KeySource.metadata("x-key").prefixed("crm:");
    String longest = "k".repeat(508);

    assertThat(value(source, call(NAMED, "x-key", longest))).contains("crm:" + longest);
    assertThatExceptionOfType(KeyException.class)
        .isThrownBy(() -> value(source, call(NAMED, "x-key", longest + "k")))
        .satisfies(wrong -> assertThat(wrong.problem()).isEqualTo(KeyProblem.TOO_LONG))
        .satisfies(
            wrong ->
                assertThat(wrong.explanation())
                    .isEqualTo("it has 509 characters; expected 1 to 508 characters"));
  }

  @Test
  void theFirstSourceThatFindsAKeyCounts() {
    KeySource source =
        KeySource.firstOf(KeySource.metadata("x-key"), KeySource.requestField("name"));

    assertThat(value(source, call(NAMED, "x-key", "k"))).contains("k");
    assertThat(value(source, call(NAMED))).contains("a-name");
    assertThat(source.readsRequest()).isTrue();
    assertThat(KeySource.firstOf(KeySource.metadata("x-key")).readsRequest()).isFalse();
  }

  @Test
  void aContentKeyDependsOnTheChosenFieldsTheUserAndTheProcedure() {
    KeySource source = KeySource.content("name");
    Optional<String> key = value(source, call(NAMED));

    assertThat(key).isPresent();
    assertThat(value(source, call(NAMED.toBuilder().putLabels("c", "d").build()))).isEqualTo(key);
    assertThat(value(source, call(NAMED.toBuilder().setName("another").build())))
        .isPresent()
        .isNotEqualTo(key);
    assertThat(value(source, new Call("a.B/C", Optional.of(BOB), Map.of(), NAMED)))
        .isNotEqualTo(key);
    assertThat(value(source, new Call("a.B/D", Optional.of(ALICE), Map.of(), NAMED)))
        .isNotEqualTo(key);
  }

  @Test
  void aRequestWithoutAnyFieldOfAContentKeyHasNoKey() {
    KeySource source = KeySource.content("name", "labels");
    CreateThingRequest empty = CreateThingRequest.getDefaultInstance();

    assertThat(value(source, call(empty))).isEmpty();
    assertThat(value(source, call(empty.toBuilder().putLabels("", "").build()))).isPresent();
  }

  @Test
  void theFieldsOfAContentKeyAreSeparated() {
    KeySource both = KeySource.content("name", "labels");

    assertThat(value(both, call(NAMED)))
        .isNotEqualTo(value(KeySource.content("labels", "name"), call(NAMED)));
  }

  @Test
  void aContentKeyWithoutFieldsIsRefused() {
    assertThatIllegalArgumentException().isThrownBy(KeySource::content);
    assertThatIllegalArgumentException().isThrownBy(KeySource::firstOf);
  }

  private static void assertMalformed(KeySource source, KeyCall call) {
    assertThatExceptionOfType(KeyException.class).isThrownBy(() -> source.find(call));
  }

  private static Optional<String> value(KeySource source, KeyCall call) {
    return source.find(call).map(FoundKey::value);
  }

  private static KeyCall call(Message request) {
    return new Call("a.B/C", Optional.of(ALICE), Map.of(), request);
  }

  private static KeyCall call(Message request, String header, String... values) {
    return new Call("a.B/C", Optional.of(ALICE), Map.of(header, List.of(values)), request);
  }

  private record Call(
      String procedure, Optional<Caller> caller, Map<String, List<String>> headers, Message request)
      implements KeyCall {
    @Override
    public List<String> metadata(String name) {
      return headers.getOrDefault(name, List.of());
    }
  }
}
