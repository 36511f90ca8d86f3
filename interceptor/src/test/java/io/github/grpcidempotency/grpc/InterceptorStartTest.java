package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.store.SetupException;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import java.util.Optional;
import org.assertj.core.api.ListAssert;
import org.junit.jupiter.api.Test;

/** What keeps an interceptor from starting, whatever its store. */
class InterceptorStartTest {
  private static final Procedure OTHER =
      Procedure.of(ThingServiceGrpc.getCreateOtherMethod()).execution(Execution.RESERVED).build();

  @Test
  void anAnnotatedMethodThatIsLeftOutIsAProblemIfAnotherOfItsServiceIsDescribed() {
    assertThatExceptionOfType(SetupException.class)
        .isThrownBy(() -> start(Procedures.of(OTHER)))
        .satisfies(
            wrong ->
                problemsOf(wrong)
                    .containsExactly(
                        "idempotency.testing.v1.ThingService/CreateThing: the method has the option"
                            + " (idempotency.v1.procedure), but the interceptor has no descriptor"
                            + " of the method, so its calls would not be protected; add"
                            + " Procedures.builder().addAnnotated(ThingServiceGrpc.getServiceDescriptor())"
                            + " or Procedure.annotated(ThingServiceGrpc.getCreateThingMethod()).build()"));
  }

  @Test
  void anAnnotatedMethodMayBeDescribedAsNotProtected() {
    start(
            Procedures.builder()
                .add(OTHER)
                .addAnnotated(ThingServiceGrpc.getServiceDescriptor())
                .build())
        .close();
    start(
            Procedures.of(
                OTHER,
                Procedure.of(ThingServiceGrpc.getCreateThingMethod())
                    .keyPolicy(KeyPolicy.HANDLER_INTERNAL)
                    .build()))
        .close();
  }

  @Test
  void anInterceptorWithoutAStoreDoesNotStartUnlessConfigured() {
    assertThatExceptionOfType(SetupException.class)
        .isThrownBy(
            () -> IdempotencyInterceptor.builder(Procedures.of(OTHER), Optional::empty).build())
        .satisfies(
            wrong ->
                problemsOf(wrong)
                    .contains(
                        "the interceptor has no store: call store(…), or shards(…), or withoutStore() to let"
                            + " every call pass through unprotected"));
  }

  private static ListAssert<String> problemsOf(SetupException wrong) {
    return assertThat(wrong.problems());
  }

  private static IdempotencyInterceptor start(Procedures procedures) {
    return IdempotencyInterceptor.builder(procedures, Optional::empty).withoutStore().build();
  }
}
