package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.crypto.tink.KeysetHandle;
import com.google.crypto.tink.RegistryConfiguration;
import com.google.crypto.tink.aead.AeadConfig;
import com.google.crypto.tink.aead.PredefinedAeadParameters;
import com.google.protobuf.ByteString;
import com.google.rpc.Code;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.KeyException;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ResponseProtection;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.tink.TinkProtection;
import io.grpc.Status;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class PoliciesTest extends CallTest {
  @Test
  void whereAKeyIsRequiredACallWithoutOneIsRefused() {
    ThingServer server =
        start(server().createThing(procedure -> procedure.keyPolicy(KeyPolicy.REQUIRED)));

    call(server, "a thing")
        .as(ALICE)
        .end()
        .refused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_REQUIRED")
        .forGood();
    call(server, "a thing")
        .key(KEY)
        .end()
        .refused(Status.Code.UNAUTHENTICATED, "IDEMPOTENCY_CALLER_REQUIRED")
        .forGood();
    keyed(server).end().first();
    assertThat(server.things().runs()).isEqualTo(1);
  }

  @Test
  void aStreamMayProhibitKeysAndIsUntouchedWithoutOne() {
    ThingServer server =
        start(
            server()
                .describe(
                    Procedure.of(ThingServer.CREATE_MANY).keyPolicy(KeyPolicy.PROHIBITED).build()));

    keyed(server)
        .to(ThingServer.CREATE_MANY)
        .requests(3)
        .end()
        .refused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_PROHIBITED")
        .forGood();
    assertThat(server.things().runs()).isZero();
    call(server, "a thing").as(ALICE).to(ThingServer.CREATE_MANY).requests(3).end().untouched();
    assertThat(server.things().runs()).isEqualTo(1);
  }

  @Test
  void aKeyWhoseSenderProvesNothingIsRefusedWhateverThePolicy() {
    KeySource forged =
        call -> {
          throw KeyException.unauthenticated("the signature is wrong");
        };
    ThingServer derived = start(server().createThing(procedure -> procedure.keyFrom(forged)));
    ThingServer optional =
        start(
            server()
                .createThing(procedure -> procedure.keyFrom(forged).keyPolicy(KeyPolicy.OPTIONAL)));

    call(derived, "a thing")
        .as(ALICE)
        .end()
        .refused(Status.Code.UNAUTHENTICATED, "IDEMPOTENCY_CALLER_REQUIRED")
        .forGood();
    call(optional, "a thing")
        .end()
        .refused(Status.Code.UNAUTHENTICATED, "IDEMPOTENCY_CALLER_REQUIRED");
    assertThat(derived.things().runs() + optional.things().runs()).isZero();
  }

  @Test
  void aKeyThatCannotBeLookedUpIsRefusedEvenWhereOutagesAreServed() {
    KeySource unreachable =
        call -> {
          throw new StoreException("the directory is away", new IllegalStateException("gone"));
        };
    ThingServer server =
        start(
            server()
                .createThing(
                    procedure -> procedure.keyFrom(unreachable).outage(OutagePolicy.FAIL_OPEN)));

    call(server, "a thing")
        .as(ALICE)
        .end()
        .refused(Status.Code.UNAVAILABLE, "IDEMPOTENCY_STORE_UNAVAILABLE");
    assertThat(server.things().runs()).isZero();
  }

  @Test
  void anAnswerIsNotReplayedToACallerWhoLostTheRight() {
    AtomicBoolean allowed = new AtomicBoolean(true);
    ThingServer server =
        start(
            server()
                .createThing(procedure -> procedure.guard((caller, resource) -> allowed.get())));
    Seen first = keyed(server).end().first();
    keyed(server).end().replays(first);

    allowed.set(false);

    keyed(server)
        .end()
        .refused(Status.Code.PERMISSION_DENIED, "IDEMPOTENCY_REPLAY_DENIED")
        .forGood();
    assertThat(server.things().runs()).isEqualTo(1);
  }

  /** Otherwise a client without the right, or with another request, could keep a record alive. */
  @Test
  void aRefusedCallExtendsNoRetention() {
    AtomicBoolean allowed = new AtomicBoolean();
    ThingServer server =
        start(
            server()
                .createThing(
                    procedure ->
                        procedure
                            .retention(Duration.ofHours(1))
                            .retainFromLastReplay()
                            .guard((caller, resource) -> allowed.get())));
    keyed(server).end().first();
    letPass(Duration.ofMinutes(59));

    keyed(server).end().refused(Status.Code.PERMISSION_DENIED, "IDEMPOTENCY_REPLAY_DENIED");
    call(server, "another thing")
        .as(ALICE)
        .key(KEY)
        .end()
        .refused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_REUSED");

    allowed.set(true);
    letPass(Duration.ofMinutes(2));
    keyed(server).end().first();
  }

  @Test
  void aGuardGetsTheCallerAndTheResourceInTheContextOfItsCall() {
    List<String> asked = new CopyOnWriteArrayList<>();
    ThingServer server =
        start(
            server()
                .createThing(
                    procedure ->
                        procedure.guard(
                            (caller, resource) ->
                                asked.add(
                                    "%s %s %s"
                                        .formatted(caller, resource, ThingServer.caller())))));
    Seen first = call(server, "a thing").as(ALICE, "acme/apollo").key(KEY).end().first();
    assertThat(asked).isEmpty();

    call(server, "a thing").as(ALICE, "acme/apollo").key(KEY).end().replays(first);

    Caller caller = Caller.of(ALICE).inTenant("acme").inProject("apollo");
    Optional<UUID> thing = Optional.of(UUID.fromString(first.thing().getId()));
    assertThat(asked).containsExactly("%s %s %s".formatted(caller, thing, caller));
  }

  @Test
  void aGuardWhoseDatabaseIsUnreachableIsCalledAgainByTheRetry() {
    AtomicBoolean away = new AtomicBoolean(true);
    ThingServer server =
        start(
            server()
                .createThing(
                    procedure ->
                        procedure.guard(
                            (caller, resource) -> {
                              if (away.get()) {
                                throw new StoreException("the rights are away", null);
                              }
                              return true;
                            })));
    Seen first = keyed(server).end().first();

    keyed(server).end().refused(Status.Code.UNAVAILABLE, "IDEMPOTENCY_STORE_UNAVAILABLE");

    away.set(false);
    keyed(server).end().replays(first);
  }

  @Test
  void aFieldThatIsNotRecordedIsMissingFromReplaysWhichNameIt() {
    ThingServer server = start(server().createThing(procedure -> procedure.omit("name")));
    Seen first = keyed(server).end().first();

    Seen replay = keyed(server).end();

    assertThat(first.thing().getName()).isEqualTo("a thing");
    assertThat(replay.thing()).isEqualTo(first.thing().toBuilder().clearName().build());
    assertThat(replay.trailer(IdempotencyMetadata.OMITTED)).contains("name");
    assertThat(first.trailer(IdempotencyMetadata.OMITTED)).isEmpty();
  }

  @Test
  void anAnswerThatIsTooLargeIsGivenOnceAndRecordedWithoutItsResponse() {
    ThingServer server = start(server().createThing(procedure -> procedure.maxRecordedBytes(10)));
    Seen first = keyed(server).end().first();

    keyed(server).end().refused(Status.Code.INTERNAL, "IDEMPOTENCY_ANSWER_TOO_LARGE").forGood();

    assertThat(first.thing().getName()).isEqualTo("a thing");
    assertThat(server.things().runs()).isEqualTo(1);
  }

  @Test
  void whatIsNotRecordedDoesNotCountAsTooLarge() {
    ThingServer server =
        start(server().createThing(procedure -> procedure.omit("id", "name").maxRecordedBytes(10)));
    keyed(server).end().first();

    assertThat(keyed(server).end().isReplayed()).isTrue();
  }

  @Test
  void aRecordedErrorIsEncryptedAsWellAndRepeatedAsItWas() throws Exception {
    AeadConfig.register();
    Exchangeable protection = new Exchangeable(newProtection());
    ThingServer server =
        start(
            server()
                .createThing(
                    procedure ->
                        procedure
                            .protect(protection)
                            .failures(
                                FailurePolicy.releaseAll().withTerminal(Code.ALREADY_EXISTS))));
    server
        .things()
        .handle(
            (request, observer) ->
                observer.onError(
                    Status.ALREADY_EXISTS.withDescription("a secret").asRuntimeException()));
    Seen first = keyed(server).end();

    Seen second = keyed(server).end();
    protection.set(newProtection());
    Seen third = keyed(server).end();

    assertThat(second.code()).isEqualTo(first.code());
    assertThat(second.status().getDescription()).isEqualTo("a secret");
    third.refused(Status.Code.INTERNAL, "IDEMPOTENCY_RECORD_UNREADABLE");
    assertThat(server.things().runs()).isEqualTo(1);
  }

  @Test
  void anAnswerWhoseKeyIsMissingIsRefusedAndNotLost() throws Exception {
    AeadConfig.register();
    ResponseProtection right = newProtection();
    Exchangeable protection = new Exchangeable(right);
    ThingServer server = start(server().createThing(procedure -> procedure.protect(protection)));
    Seen first = keyed(server).end().first();

    protection.set(newProtection());
    keyed(server).end().refused(Status.Code.INTERNAL, "IDEMPOTENCY_RECORD_UNREADABLE").forGood();
    protection.set(right);

    keyed(server).end().replays(first);
    assertThat(server.things().runs()).isEqualTo(1);
  }

  private static ResponseProtection newProtection() throws GeneralSecurityException {
    return TinkProtection.of(
        KeysetHandle.generateNew(PredefinedAeadParameters.AES256_GCM, RegistryConfiguration.get()));
  }

  /** A protection that is exchanged while the server runs. */
  private static final class Exchangeable implements ResponseProtection {
    private volatile ResponseProtection now;

    Exchangeable(ResponseProtection now) {
      this.now = now;
    }

    void set(ResponseProtection other) {
      now = other;
    }

    @Override
    public ByteString seal(ByteString answer, ByteString binding) {
      return now.seal(answer, binding);
    }

    @Override
    public ByteString open(ByteString stored, ByteString binding) {
      return now.open(stored, binding);
    }
  }
}
