package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.CallerResolver;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.procedure.ResponseProtection;
import io.github.grpcidempotency.test.LogLines;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Status;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What a service passes to the library as code, and that returns null against its type. */
@SuppressWarnings("NullAway") // the mistake under test
class CallbacksTest extends CallTest {
  static Stream<Arguments> callbacks() {
    return Stream.of(
        of("its status resolver", thing -> thing.status(id -> null)),
        of("its rebuilder", thing -> thing.rebuild((caller, id) -> null)),
        of("its ResponseProtection", thing -> thing.protect(new Protection(true, false))),
        of("its ResponseProtection", thing -> thing.protect(new Protection(false, true))),
        of("the key format", thing -> thing.keyFormat(raw -> null)),
        of("the key source idempotency key", thing -> thing.keyFrom(call -> null)),
        of(
            "the key source idempotency key",
            thing -> thing.keyFrom(KeySource.firstOf(call -> null, KeySource.requestId()))),
        of(
            "the key source idempotency key",
            thing -> thing.keyFrom(((KeySource) call -> null).prefixed("a:"))));
  }

  private static Arguments of(String name, UnaryOperator<ProcedureBuilder<Thing>> change) {
    return arguments(name, change);
  }

  @ParameterizedTest
  @MethodSource("callbacks")
  void aCallbackThatReturnsNullIsNamedWithItsMethod(
      String name, UnaryOperator<ProcedureBuilder<Thing>> change) {
    try (LogLines log = LogLines.listen()) {
      ThingServer server = start(server().createThing(change));
      keyed(server).end();
      keyed(server).end();

      assertThat(log.all())
          .anyMatch(
              line ->
                  line.contains(name + " returned null")
                      && line.contains("ThingService/CreateThing"));
    }
  }

  @Test
  void aCallerResolverThatReturnsNullIsNamedAndRefusesTheCall() {
    CallerResolver none = () -> null;
    IdempotencyInterceptor unresolved =
        IdempotencyInterceptor.builder(
                Procedures.of(
                    Procedure.of(ThingServer.CREATE_THING).execution(Execution.RESERVED).build()),
                none)
            .store(memory)
            .build();
    grpc.registerCloseable(unresolved);
    try (LogLines log = LogLines.listen()) {
      Seen seen = keyed(start(server().bare().inside(unresolved))).end();

      assertThat(seen.code()).isEqualTo(Status.Code.INTERNAL);
      assertThat(log.all()).anyMatch(line -> line.contains("the caller resolver returned null"));
    }
  }

  private record Protection(boolean sealsNothing, boolean opensNothing)
      implements ResponseProtection {
    @Override
    public ByteString seal(ByteString answer, ByteString binding) {
      return sealsNothing ? null : answer;
    }

    @Override
    public ByteString open(ByteString stored, ByteString binding) {
      return opensNothing ? null : stored;
    }
  }
}
