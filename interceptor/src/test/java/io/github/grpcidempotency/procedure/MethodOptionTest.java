package io.github.grpcidempotency.procedure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.google.protobuf.Message;
import com.google.protobuf.UnknownFieldSet;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.key.FoundKey;
import io.github.grpcidempotency.key.KeyCall;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.procedure.internal.MethodSchema;
import io.github.grpcidempotency.proto.v1.ProcedureProto;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.MarkedRequest;
import io.github.grpcidempotency.testing.v1.Nested;
import io.github.grpcidempotency.testing.v1.Numbered;
import io.github.grpcidempotency.testing.v1.OptionServiceGrpc;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class MethodOptionTest {
  private static final CreateThingRequest REQUEST =
      CreateThingRequest.newBuilder().setName("a thing").build();

  @Test
  void theOptionNamesTheResourceAndItsId() {
    UUID id = UUID.randomUUID();
    Procedure procedure = annotated(OptionServiceGrpc.getEverythingMethod());

    assertThat(procedure.method()).contains(OptionServiceGrpc.getEverythingMethod());
    assertThat(procedure.name()).isEqualTo("idempotency.testing.v1.OptionService/Everything");
    assertThat(procedure.resourceType()).contains(ResourceType.of("thing"));
    assertThat(procedure.resourceId(nested(id.toString()))).contains(ResourceId.of(id));
    assertThat(procedure.retention()).isEqualTo(Duration.ofHours(1).plusMillis(500));
    assertThat(procedure.outagePolicy()).isEqualTo(OutagePolicy.FAIL_CLOSED);
  }

  @Test
  void anEmptyOptionLeavesTheDefaults() {
    Procedure procedure = annotated(OptionServiceGrpc.getNothingMethod());

    assertThat(procedure.resourceType()).isEmpty();
    assertThat(procedure.resourceId(Nested.getDefaultInstance())).isEmpty();
    assertThat(procedure.retention()).isEqualTo(Duration.ofHours(24));
    assertThat(procedure.retainedFromLastReplay()).isFalse();
    assertThat(procedure.outagePolicy()).isEqualTo(OutagePolicy.FAIL_OPEN);
    assertThat(procedure.statusSource()).isEmpty();
    assertThat(procedure.failurePolicy()).isEqualTo(FailurePolicy.releaseAll());
    assertThat(procedure.keyPolicy()).isEqualTo(KeyPolicy.OPTIONAL);
    assertThat(procedure.keySource()).isEmpty();
    assertThat(procedure.execution()).isEqualTo(Execution.RESERVED);
    assertThat(procedure.attachLimit()).isEqualTo(Duration.ZERO);
    assertThat(procedure.omittedFields()).isEmpty();
  }

  /** Each header or request is one that only its source, or an earlier one, finds a key in. */
  static Stream<Arguments> sources() {
    String uuid7 = "0193a0c4-7e5b-7cc1-9d6e-aabbccddeeff";
    String uuid4 = "0193a0c4-7e5b-4cc1-9d6e-aabbccddeeff";
    return Stream.of(
        arguments("x-delivery", "a-b~c", REQUEST, "delivery:a-b~c"),
        arguments("x-code", "ABCD", REQUEST, "ABCD"),
        arguments("x-uuid", uuid7.toUpperCase(Locale.ROOT), REQUEST, uuid7),
        arguments("x-uuid4", uuid4, REQUEST, uuid4),
        arguments("x-none", "", REQUEST.toBuilder().setRequestId(uuid4).build(), uuid4),
        arguments("x-none", "", withThing(uuid7, ""), "id:" + uuid7),
        arguments("x-none", "", withThing("", "its name"), "its name"));
  }

  @ParameterizedTest
  @MethodSource("sources")
  void aKeyComesFromTheFirstSourceThatHasOne(
      String header, String value, CreateThingRequest request, String key) {
    KeySource source =
        annotated(OptionServiceGrpc.getEverySourceMethod()).keySource().orElseThrow();

    assertThat(source.find(new OneHeader(header, value, request)).map(FoundKey::value))
        .contains(key);
  }

  @Test
  void aKeyOfContentIsTheLastResort() {
    Procedure procedure = annotated(OptionServiceGrpc.getEverySourceMethod());
    OneHeader bare = new OneHeader("x-none", "", REQUEST);

    assertThat(procedure.keyPolicy()).isEqualTo(KeyPolicy.REQUIRED);
    assertThat(procedure.keySource().orElseThrow().find(bare).map(FoundKey::value))
        .isEqualTo(KeySource.content("name", "labels").find(bare).map(FoundKey::value));
  }

  @Test
  void theOptionsKeyPolicyAppliesAlsoWithASource() {
    assertThat(annotated(OptionServiceGrpc.getOptionalSourceMethod()).keyPolicy())
        .isEqualTo(KeyPolicy.OPTIONAL);
    assertThat(annotated(OptionServiceGrpc.getHandlerInternalMethod()).keyPolicy())
        .isEqualTo(KeyPolicy.HANDLER_INTERNAL);
  }

  @Test
  void keysMayBeProhibitedOnStreamsAndReads() {
    for (MethodDescriptor<CreateThingRequest, Nested> method :
        List.of(
            OptionServiceGrpc.getProhibitedStreamMethod(),
            OptionServiceGrpc.getProhibitedReadMethod())) {
      assertThat(annotated(method).keyPolicy()).isEqualTo(KeyPolicy.PROHIBITED);
    }
  }

  @Test
  void theOptionSetsTheExecutionAndTheTimeThatADuplicateWaits() {
    Procedure reserved = annotated(OptionServiceGrpc.getReservedMethod());
    Procedure transactional = annotated(OptionServiceGrpc.getTransactionalMethod());

    assertThat(reserved.execution()).isEqualTo(Execution.RESERVED);
    assertThat(reserved.attachLimit()).isEqualTo(Duration.ofSeconds(2));
    assertThat(transactional.execution()).isEqualTo(Execution.TRANSACTIONAL);
    assertThat(transactional.outagePolicy()).isEqualTo(OutagePolicy.FAIL_CLOSED);
    assertThat(transactional.claimsAtCommit()).isFalse();
  }

  @Test
  void fieldsOfTheResponseAreOmittedByTheirPaths() {
    assertThat(annotated(OptionServiceGrpc.getOmittingMethod()).omittedFields())
        .containsExactlyInAnyOrder("inner.thing.name", "all.name");
  }

  @Test
  void aFieldNamesTheVersionSinceWhichItIsIgnoredAtAnyDepth() {
    Fingerprinter rules = annotated(OptionServiceGrpc.getMarkedMethod()).fingerprinter();
    MarkedRequest request = marked("at first");

    Fingerprint recorded = rules.fingerprint(request);

    assertThat(recorded.version()).isEqualTo(3);
    assertThat(rules.matches(marked("later"), recorded)).isTrue();
    for (MarkedRequest other :
        List.of(
            request.toBuilder().setName("other").build(),
            request.toBuilder().setPart(part("other", "at first")).build(),
            request.toBuilder().setParts(0, part("other", "at first")).build(),
            request.toBuilder().putNamedParts("a", part("other", "at first")).build())) {
      assertThat(rules.matches(other, recorded)).isFalse();
    }
  }

  @Test
  void optionsOfFieldsApplyToADescriptorInJavaToo() {
    Fingerprinter rules = Procedure.of(OptionServiceGrpc.getMarkedMethod()).build().fingerprinter();

    assertThat(rules.matches(marked("later"), rules.fingerprint(marked("at first")))).isTrue();
  }

  @Test
  void settingsInJavaOverrideTheOption() {
    Procedure procedure =
        Procedure.annotated(OptionServiceGrpc.getEverythingMethod())
            .retention(Duration.ofMinutes(1))
            .outage(OutagePolicy.FAIL_OPEN)
            .build();
    Procedure otherRules =
        Procedure.annotated(OptionServiceGrpc.getMarkedMethod())
            .fingerprint(Fingerprinter.wholeRequest())
            .build();
    Procedure otherKey =
        Procedure.annotated(OptionServiceGrpc.getEverySourceMethod())
            .keyFrom(KeySource.requestId())
            .build();

    assertThat(procedure.retention()).isEqualTo(Duration.ofMinutes(1));
    assertThat(procedure.outagePolicy()).isEqualTo(OutagePolicy.FAIL_OPEN);
    assertThat(procedure.resourceType()).contains(ResourceType.of("thing"));
    assertThat(otherRules.fingerprinter()).isSameAs(Fingerprinter.wholeRequest());
    assertThat(otherKey.keySource().orElseThrow().find(new OneHeader("x-code", "ABCD", REQUEST)))
        .isEmpty();
  }

  @Test
  void aResponseWithoutAnIdHasNoResourceId() {
    Procedure procedure = annotated(OptionServiceGrpc.getEverythingMethod());

    assertThat(procedure.resourceId(nested("any text"))).contains(ResourceId.of("any text"));
    assertThat(procedure.resourceId(nested("a\0b"))).isEmpty();
    assertThat(procedure.resourceId(nested("x".repeat(501)))).isEmpty();
    assertThat(procedure.resourceId(Nested.getDefaultInstance())).isEmpty();
  }

  @Test
  void anIntegerFieldCanContainTheId() {
    Procedure number = annotated(OptionServiceGrpc.getNumberMethod());
    Procedure deleted = annotated(OptionServiceGrpc.getDeletingNumberMethod());

    assertThat(number.integerIdField()).contains("uint64 number");
    assertThat(number.resourceId(Numbered.newBuilder().setNumber(-1).build()))
        .contains(ResourceId.of("18446744073709551615"));
    assertThat(number.resourceId(Numbered.getDefaultInstance())).isEmpty();
    assertThat(deleted.integerIdField()).contains("int32 small");
    assertThat(deleted.deletedId(Numbered.newBuilder().setSmall(-7).build()))
        .contains(ResourceId.of(-7));
    assertThat(annotated(OptionServiceGrpc.getEverythingMethod()).integerIdField()).isEmpty();
  }

  @Test
  void aDeleteNamesTheFieldOfTheRequestThatContainsTheId() {
    Procedure procedure = annotated(OptionServiceGrpc.getDeletingMethod());
    UUID id = UUID.randomUUID();

    assertThat(procedure.deletes()).isTrue();
    assertThat(procedure.resourceType()).contains(ResourceType.of("thing"));
    assertThat(procedure.deletedId(withThing(id.toString(), ""))).contains(ResourceId.of(id));
    assertThat(procedure.deletedId(REQUEST)).isEmpty();
    assertThat(procedure.resourceId(nested(id.toString()))).isEmpty();
    assertThat(annotated(OptionServiceGrpc.getEverythingMethod()).deletes()).isFalse();
  }

  @Test
  void aMethodWithoutTheOptionHasNoAnnotatedDescriptor() {
    assertThatThrownBy(() -> Procedure.annotated(OptionServiceGrpc.getUnannotatedMethod()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("idempotency.testing.v1.OptionService/Unannotated")
        .hasMessageContaining("(idempotency.v1.procedure)");
  }

  /** A schema compiled with a newer library, in a server that runs an older one. */
  @Test
  void anUnknownFieldOrValueIsAProblemAndNotADefault() {
    io.github.grpcidempotency.proto.v1.Procedure known =
        MethodSchema.optionOf(OptionServiceGrpc.getNothingMethod()).orElseThrow();
    UnknownFieldSet newField =
        UnknownFieldSet.newBuilder()
            .addField(999, UnknownFieldSet.Field.newBuilder().addVarint(1).build())
            .build();

    assertThat(problems(known)).isEmpty();
    for (io.github.grpcidempotency.proto.v1.Procedure newer :
        List.of(
            known.toBuilder().setKeyPolicyValue(99).build(),
            known.toBuilder().setUnknownFields(newField).build(),
            known.toBuilder()
                .addKeySources(
                    io.github.grpcidempotency.proto.v1.KeySource.newBuilder()
                        .setMetadata("x-key")
                        .setFormatValue(99))
                .build())) {
      assertThat(problems(newer))
          .containsExactly(
              "its option has a field or a value that this version of the library does not know");
    }
  }

  @Test
  void anInvalidDurationIsAProblem() {
    com.google.protobuf.Duration.Builder tooLong =
        com.google.protobuf.Duration.newBuilder().setSeconds(Long.MAX_VALUE);
    com.google.protobuf.Duration longest =
        com.google.protobuf.Duration.newBuilder()
            .setSeconds(315_576_000_000L)
            .setNanos(999_999_999)
            .build();
    com.google.protobuf.Duration mixedSigns =
        com.google.protobuf.Duration.newBuilder().setSeconds(1).setNanos(-1).build();
    for (com.google.protobuf.Duration none :
        List.of(tooLong.build(), tooLong.setNanos(2_000_000_000).build(), mixedSigns)) {
      assertThat(problems(option().setRetention(none).build()))
          .containsExactly("its retention is not a valid duration");
      assertThat(problems(option().setAttach(none).build()))
          .containsExactly("its attach is not a valid duration");
    }
    assertThat(problems(option().setAttach(longest).build()))
        .containsExactly(
            "the time that a duplicate waits must be 0 to 36500 days, not PT87660000H0.999999999S");
  }

  @Test
  void theOptionHasTheNumberThatSchemasAreCompiledWith() {
    assertThat(ProcedureProto.procedure.getNumber()).isEqualTo(51970);
    assertThat(ProcedureProto.fingerprintIgnoredSince.getNumber()).isEqualTo(51970);
  }

  private static io.github.grpcidempotency.proto.v1.Procedure.Builder option() {
    return io.github.grpcidempotency.proto.v1.Procedure.newBuilder();
  }

  private static List<String> problems(io.github.grpcidempotency.proto.v1.Procedure declared) {
    return MethodOption.describe(declared, Procedure.of(ThingServiceGrpc.getCreateThingMethod()))
        .defaultExecution(() -> Optional.of(Execution.RESERVED))
        .build()
        .problems();
  }

  /** Returns a descriptor with which nothing is wrong. */
  private static Procedure annotated(
      MethodDescriptor<? extends Message, ? extends Message> method) {
    Procedure procedure =
        Procedure.annotated(method).defaultExecution(() -> Optional.of(Execution.RESERVED)).build();
    assertThat(Procedures.of(procedure).problems()).isEmpty();
    return procedure;
  }

  private static Nested nested(String id) {
    return Nested.newBuilder()
        .setInner(Nested.Inner.newBuilder().setThing(Thing.newBuilder().setId(id)))
        .build();
  }

  private static CreateThingRequest withThing(String id, String name) {
    return REQUEST.toBuilder().setThing(Thing.newBuilder().setId(id).setName(name)).build();
  }

  private static MarkedRequest marked(String sent) {
    return MarkedRequest.newBuilder()
        .setName("a name")
        .setSent(sent)
        .setPart(part("one", sent).toBuilder().setWithin(part("within", sent)))
        .addParts(part("two", sent))
        .putNamedParts("a", part("three", sent))
        .build();
  }

  private static MarkedRequest.Part part(String name, String sent) {
    return MarkedRequest.Part.newBuilder().setName(name).setSent(sent).build();
  }

  /** A call with one header, or none. */
  private record OneHeader(String name, String value, Message request) implements KeyCall {
    @Override
    public String procedure() {
      return "a.B/C";
    }

    @Override
    public Optional<Caller> caller() {
      return Optional.empty();
    }

    @Override
    public List<String> metadata(String asked) {
      return asked.equals(name) ? List.of(value) : List.of();
    }
  }
}
