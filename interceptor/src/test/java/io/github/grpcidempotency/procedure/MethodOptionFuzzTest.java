package io.github.grpcidempotency.procedure;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.code_intelligence.jazzer.mutation.annotation.NotNull;
import com.google.protobuf.Message;
import io.github.grpcidempotency.internal.record.KeyedRequest;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.key.KeyCall;
import io.github.grpcidempotency.key.KeyException;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.key.internal.FieldPath;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Nested;
import io.github.grpcidempotency.testing.v1.OptionServiceGrpc;
import io.github.grpcidempotency.testing.v1.Thing;
import io.grpc.MethodDescriptor;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Any option is a descriptor that works, or says what is wrong with it. */
class MethodOptionFuzzTest {
  private static final MethodDescriptor<CreateThingRequest, Nested> METHOD =
      OptionServiceGrpc.getUnannotatedMethod();
  private static final Caller CALLER = Caller.of(new UUID(1, 2));
  private static final CreateThingRequest REQUEST =
      CreateThingRequest.newBuilder()
          .setName("a name")
          .putLabels("a", "1")
          .setRequestId("0193a0c4-7e5b-4cc1-9d6e-aabbccddeeff")
          .setThing(Thing.newBuilder().setId("not an id").setName("its name"))
          .build();
  private static final Nested RESPONSE =
      Nested.newBuilder()
          .setInner(
              Nested.Inner.newBuilder()
                  .setThing(Thing.newBuilder().setId(new UUID(3, 4).toString()).setName("a name")))
          .addAll(Thing.newBuilder().setName("another"))
          .build();

  @FuzzTest
  void anyOptionGivesAProcedureThatWorksOrListsItsProblems(
      io.github.grpcidempotency.proto.v1.@NotNull Procedure option) {
    Procedure procedure = MethodOption.describe(option, Procedure.of(METHOD)).build();
    List<String> problems = Procedures.of(procedure).problems();
    if (problems.isEmpty()) {
      assertWorks(procedure);
    } else {
      assertThat(problems).allSatisfy(problem -> assertThat(problem).isNotBlank());
    }
  }

  private static void assertWorks(Procedure procedure) {
    procedure.keySource().ifPresent(MethodOptionFuzzTest::assertFindsAKeyOrRefuses);
    procedure.keyFormat().canonicalize("a-key");
    KeyedRequest.of(
        new IdempotencyKey(CALLER, "a-key"), procedure, REQUEST, Optional.empty(), false);
    Message recorded = FieldPath.without(RESPONSE, procedure.omittedFields());
    assertThat(recorded.getDescriptorForType()).isEqualTo(RESPONSE.getDescriptorForType());
    procedure.resourceType().ifPresent(type -> assertNamesAResource(procedure));
    assertThat(procedure.retention()).isPositive();
    assertThat(procedure.attachLimit().toNanos()).isNotNegative();
  }

  private static void assertFindsAKeyOrRefuses(KeySource source) {
    try {
      source.find(new Call());
    } catch (KeyException refused) {
      assertThat(refused).hasMessageNotContaining("a name");
    }
  }

  private static void assertNamesAResource(Procedure procedure) {
    try {
      procedure.resourceId(RESPONSE);
    } catch (IllegalArgumentException noUuid) {
      assertThat(noUuid).hasMessageStartingWith("Invalid UUID string");
    }
  }

  private record Call() implements KeyCall {
    @Override
    public String procedure() {
      return METHOD.getFullMethodName();
    }

    @Override
    public Optional<Caller> caller() {
      return Optional.of(CALLER);
    }

    @Override
    public List<String> metadata(String name) {
      return List.of("a-key");
    }

    @Override
    public CreateThingRequest request() {
      return REQUEST;
    }
  }
}
