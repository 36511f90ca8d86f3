package io.github.grpcidempotency.procedure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.MisdescribedServiceGrpc;
import io.github.grpcidempotency.testing.v1.Nested;
import io.github.grpcidempotency.testing.v1.OptionServiceGrpc;
import io.github.grpcidempotency.testing.v1.Thing;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class MethodOptionTest {
  @Test
  void theOptionSaysEverythingThatItCan() {
    UUID id = UUID.randomUUID();
    Procedure procedure = Procedure.annotated(OptionServiceGrpc.getEverythingMethod()).build();

    assertThat(procedure.method()).contains(OptionServiceGrpc.getEverythingMethod());
    assertThat(procedure.name()).isEqualTo("idempotency.testing.v1.OptionService/Everything");
    assertThat(procedure.resourceType()).contains(ResourceType.of("thing"));
    assertThat(procedure.resourceId(nested(id.toString()))).contains(id);
    assertThat(procedure.retention()).isEqualTo(Duration.ofHours(1).plusMillis(500));
    assertThat(procedure.outagePolicy()).isEqualTo(OutagePolicy.FAIL_CLOSED);
  }

  @Test
  void anEmptyOptionLeavesTheDefaults() {
    Procedure procedure = Procedure.annotated(OptionServiceGrpc.getNothingMethod()).build();

    assertThat(procedure.resourceType()).isEmpty();
    assertThat(procedure.resourceId(Nested.getDefaultInstance())).isEmpty();
    assertThat(procedure.retention()).isEqualTo(Duration.ofHours(24));
    assertThat(procedure.outagePolicy()).isEqualTo(OutagePolicy.FAIL_OPEN);
    assertThat(procedure.statusResolver()).isEmpty();
    assertThat(procedure.failurePolicy()).isEqualTo(FailurePolicy.releaseAll());
  }

  @Test
  void failingOpenCanBeSaid() {
    assertThat(Procedure.annotated(OptionServiceGrpc.getOpenMethod()).build().outagePolicy())
        .isEqualTo(OutagePolicy.FAIL_OPEN);
  }

  @Test
  void whatIsSaidInJavaOverridesTheOption() {
    Procedure procedure =
        Procedure.annotated(OptionServiceGrpc.getEverythingMethod())
            .retention(Duration.ofMinutes(1))
            .outage(OutagePolicy.FAIL_OPEN)
            .build();

    assertThat(procedure.retention()).isEqualTo(Duration.ofMinutes(1));
    assertThat(procedure.outagePolicy()).isEqualTo(OutagePolicy.FAIL_OPEN);
    assertThat(procedure.resourceType()).contains(ResourceType.of("thing"));
  }

  @Test
  void aResponseWithoutAUuidHasNoResourceId() {
    Procedure procedure = Procedure.annotated(OptionServiceGrpc.getEverythingMethod()).build();

    assertThatIllegalArgumentException()
        .isThrownBy(() -> procedure.resourceId(nested("not a uuid")));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> procedure.resourceId(Nested.getDefaultInstance()));
  }

  @Test
  void aMethodWithoutTheOptionHasNoAnnotatedDescriptor() {
    assertThatThrownBy(() -> Procedure.annotated(OptionServiceGrpc.getUnannotatedMethod()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("idempotency.testing.v1.OptionService/Unannotated")
        .hasMessageContaining("(idempotency.v1.procedure)");
  }

  @Test
  void aPathThatEndsInNoStringIsRefused() {
    List<MethodDescriptor<CreateThingRequest, Nested>> wrong =
        List.of(
            MisdescribedServiceGrpc.getUnknownFieldMethod(),
            MisdescribedServiceGrpc.getNoFieldMethod(),
            MisdescribedServiceGrpc.getNotAStringMethod(),
            MisdescribedServiceGrpc.getBeyondAStringMethod(),
            MisdescribedServiceGrpc.getRepeatedMethod());

    for (MethodDescriptor<CreateThingRequest, Nested> method : wrong) {
      assertThatThrownBy(() -> Procedure.annotated(method))
          .as(method.getFullMethodName())
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(String.valueOf(method.getBareMethodName()))
          .hasMessageContaining("is not a singular string field of idempotency.testing.v1.Nested");
    }
  }

  private static Nested nested(String id) {
    return Nested.newBuilder()
        .setInner(Nested.Inner.newBuilder().setThing(Thing.newBuilder().setId(id)))
        .build();
  }
}
