package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
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
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Functions of a service that return null against their type, or throw an error. */
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

  /** A rolling upgrade may leave one class of another version behind. */
  @Test
  void anErrorOfAGuardDeniesTheReplay() {
    ThingServer server = start(server().createThing(thing -> thing.guard((caller, id) -> fails())));
    keyed(server).end().first();

    keyed(server).end().refused(Status.Code.PERMISSION_DENIED, "IDEMPOTENCY_REPLAY_DENIED");
  }

  @Test
  void anErrorOfAStatusResolverIsProcessing() {
    ThingServer server = start(server().createThing(thing -> thing.status(id -> fails())));
    Seen first = keyed(server).end().first();

    Seen replay = keyed(server).end();

    replay.replays(first);
    assertThat(replay.trailer(IdempotencyMetadata.STATUS)).contains("processing");
  }

  @Test
  void anErrorOfARebuilderOrAProtectionIsTemporaryForAReplay() {
    for (UnaryOperator<ProcedureBuilder<Thing>> change :
        List.<UnaryOperator<ProcedureBuilder<Thing>>>of(
            thing -> thing.rebuild((caller, id) -> fails()),
            thing ->
                thing.protect(
                    new Protection(false, false) {
                      @Override
                      public ByteString open(ByteString stored, ByteString binding) {
                        return fails();
                      }
                    }))) {
      ThingServer server = start(server().createThing(change));
      String key = UUID.randomUUID().toString();
      call(server, "a thing").as(ALICE).key(key).end().first();

      Seen refused = call(server, "a thing").as(ALICE).key(key).end();

      refused.refused(Status.Code.UNAVAILABLE, "IDEMPOTENCY_STORE_UNAVAILABLE");
      assertThat(refused.retryAfter()).isPositive();
      assertThat(server.things().runs()).isEqualTo(1);
    }
  }

  @Test
  void anErrorOfAProtectionLetsTheAnswerBeRecordedLater() {
    AtomicBoolean broken = new AtomicBoolean(true);
    ResponseProtection protection =
        new Protection(false, false) {
          @Override
          public ByteString seal(ByteString answer, ByteString binding) {
            return broken.get() ? fails() : super.seal(answer, binding);
          }
        };
    ThingServer server = start(server().createThing(thing -> thing.protect(protection)));

    keyed(server).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");
    broken.set(false);

    await().until(() -> keyed(server).end().isReplayed());
    assertThat(server.things().runs()).isEqualTo(1);
  }

  @Test
  void anErrorOfARetentionKeepsTheLastValue() {
    AtomicBoolean broken = new AtomicBoolean();
    ThingServer server =
        start(
            server()
                .createThing(
                    thing -> thing.retention(() -> broken.get() ? fails() : Duration.ofHours(1))));
    broken.set(true);

    keyed(server).end().first();
  }

  @SuppressWarnings("TypeParameterUnusedInFormals") // stands for a function of any type
  private static <T> T fails() {
    throw new NoSuchMethodError("of another version");
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

  private static class Protection implements ResponseProtection {
    private final boolean sealsNothing;
    private final boolean opensNothing;

    Protection(boolean sealsNothing, boolean opensNothing) {
      this.sealsNothing = sealsNothing;
      this.opensNothing = opensNothing;
    }

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
