package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.base.Splitter;
import com.google.rpc.BadRequest;
import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.event.UnprotectedEvent;
import io.github.grpcidempotency.grpc.internal.WireMetadata;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.CallerResolver;
import io.github.grpcidempotency.key.FoundKey;
import io.github.grpcidempotency.key.KeyFormat;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls that carry a key and are not protected all the same, or cannot even be judged. */
class UnprotectedTest extends CallTest {

  private static final Metadata.Key<String> REQUIRED =
      Metadata.Key.of("idempotency-required", Metadata.ASCII_STRING_MARSHALLER);

  private final List<UnprotectedCause> causes = new CopyOnWriteArrayList<>();
  private final IdempotencyListener listener =
      event -> {
        if (event instanceof UnprotectedEvent unprotected) {
          assertThat(unprotected.procedure())
              .isEqualTo(ThingServer.CREATE_THING.getFullMethodName());
          causes.add(unprotected.cause());
        }
      };

  private Optional<IdempotencyInterceptor> second = Optional.empty();

  @AfterEach
  void closeSecond() {
    second.ifPresent(IdempotencyInterceptor::close);
  }

  @Test
  void aKeyWithoutACallerIsReported() {
    ThingServer server = start(server().listener(listener));

    call(server, "a thing").key(KEY).end().untouched();
    call(server, "a thing").key("not a uuid").end().untouched();

    assertThat(causes).containsExactly(UnprotectedCause.NO_CALLER, UnprotectedCause.NO_CALLER);
    assertThat(store.claims()).isZero();
  }

  @Test
  void aClientThatRequiresProtectionIsRefusedIfItsCallWouldRunWithoutIt() {
    ThingServer server = start(server().listener(listener));

    Seen noCaller = call(server, "a thing").key(KEY).header(REQUIRED, "true").end();
    Seen noKey = call(server, "a thing").as(ALICE).header(REQUIRED, "true").end();
    keyed(server).header(REQUIRED, "true").end().first();

    assertThat(noCaller.code()).isEqualTo(Status.Code.UNAUTHENTICATED);
    assertThat(noKey.code()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    assertThat(server.things().runs()).isEqualTo(1);
    assertThat(causes).isEmpty();
  }

  @Test
  void aMalformedKeyIsRefusedIfItsSourceKnowsTheCaller() {
    KeySource webhook = call -> Optional.of(FoundKey.of("no uuid", Caller.of(ALICE)));
    for (KeySource source :
        List.of(
            webhook.as(KeyFormat.uuid()), KeySource.firstOf(webhook.as(raw -> Optional.of(""))))) {
      ThingServer server =
          start(
              server()
                  .listener(listener)
                  .createThing(thing -> thing.keyFrom(source).keyPolicy(KeyPolicy.OPTIONAL)));

      call(server, "a thing")
          .end()
          .refused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_INVALID");

      assertThat(server.things().runs()).isZero();
    }
    assertThat(causes).isEmpty();
  }

  /** Otherwise an intermediary that adds a header could switch the demand off. */
  @ParameterizedTest
  @ValueSource(strings = {"true|false", "false|true", "true|true", "true,false", "true, true"})
  void aRepeatedDemandForProtectionIsMalformed(String values) {
    ThingServer server = start(server().listener(listener));
    TestCall call = keyed(server);
    for (String value : Splitter.on('|').split(values)) {
      call = call.header(REQUIRED, value);
    }

    Seen refused = call.end();

    refused.refused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_INVALID");
    assertThat(refused.detail(BadRequest.class).orElseThrow().getFieldViolations(0).getField())
        .isEqualTo("idempotency-required");
    assertThat(server.things().runs()).isZero();
  }

  @Test
  void anInterceptorThatIsRegisteredTwiceProtectsOnceAndIsReported() {
    ThingServer server =
        start(server().inside(interceptor(() -> Optional.of(Caller.of(UUID.randomUUID())))));

    Seen first = keyed(server).end().first();
    keyed(server).end().replays(first);

    assertThat(server.things().runs()).isEqualTo(1);
    assertThat(causes).containsExactly(UnprotectedCause.REGISTERED_TWICE);
  }

  @Test
  void anAnnotatedMethodThatNobodyDescribesIsReportedAtEachCall() {
    ThingServer server =
        start(
            ThingServer.on(transport)
                .bare()
                .inside(
                    interceptor(
                        Procedures.of(), () -> Optional.ofNullable(ThingServer.CALLER.get()))));

    keyed(server).end().untouched();
    call(server, "a thing").end().untouched();
    keyed(server).to(ThingServer.CREATE_OTHER).end().untouched();
    Seen demanding = keyed(server).header(REQUIRED, "true").end();

    assertThat(causes).hasSize(3).containsOnly(UnprotectedCause.NOT_DESCRIBED);
    assertThat(demanding.code()).isEqualTo(Status.Code.UNAVAILABLE);
    assertThat(server.things().runs()).isEqualTo(3);
  }

  @Test
  void withoutAResolvedCallerNothingRuns() {
    ThingServer server =
        start(
            server()
                .outside(
                    interceptor(
                        () -> {
                          throw new NoSuchMethodError("of another version");
                        })));

    Seen seen = keyed(server).end();

    assertThat(seen.code()).isEqualTo(Status.Code.INTERNAL);
    assertThat(seen.text()).contains("the caller could not be resolved");
    assertThat(server.things().runs()).isZero();
  }

  @Test
  void aResolverMaySetTheClientsStatus() {
    ThingServer server =
        start(
            server()
                .outside(
                    interceptor(
                        () -> {
                          throw Status.UNAUTHENTICATED.asRuntimeException();
                        })));

    assertThat(keyed(server).end().code()).isEqualTo(Status.Code.UNAUTHENTICATED);
    assertThat(server.things().runs()).isZero();
  }

  @Test
  void errorsOfADerivedKeyNameItsField() {
    ThingServer server =
        start(
            server()
                .createThing(
                    thing -> thing.keyFrom(KeySource.requestField("name").as(KeyFormat.uuid()))));

    Seen malformed = call(server, "not a uuid").as(ALICE).end();
    Seen none = call(server, "").as(ALICE).end();

    malformed.refused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_INVALID");
    assertThat(malformed.text()).contains("name is malformed").doesNotContain("idempotency-key");
    assertThat(malformed.detail(BadRequest.class).orElseThrow().getFieldViolations(0).getField())
        .isEqualTo("name");
    none.refused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_REQUIRED");
    assertThat(none.text()).doesNotContain("idempotency-key");
  }

  @Test
  void ofSeveralSourcesErrorsNameTheOneThatHasTheKey() {
    ThingServer server =
        start(
            server()
                .createThing(
                    thing ->
                        thing.keyFrom(
                            KeySource.firstOf(
                                KeySource.metadata("x-event-id").as(KeyFormat.uuid()),
                                KeySource.requestField("name").prefixed("name:")))));
    call(server, "a thing").as(ALICE).end().first();

    Seen malformed =
        call(server, "a thing").as(ALICE).header(WireMetadata.ascii("x-event-id"), "no uuid").end();

    malformed.refused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_INVALID");
    assertThat(malformed.detail(BadRequest.class).orElseThrow().getFieldViolations(0).getField())
        .isEqualTo("x-event-id");
  }

  private IdempotencyInterceptor interceptor(CallerResolver callers) {
    return interceptor(
        Procedures.of(Procedure.of(ThingServer.CREATE_THING).execution(Execution.RESERVED).build()),
        callers);
  }

  private IdempotencyInterceptor interceptor(Procedures procedures, CallerResolver callers) {
    IdempotencyInterceptor interceptor =
        IdempotencyInterceptor.builder(procedures, callers).store(store).listener(listener).build();
    second = Optional.of(interceptor);
    return interceptor;
  }
}
