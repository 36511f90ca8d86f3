package io.github.grpcidempotency.internal.settling;

import static io.github.grpcidempotency.resource.IdempotencyStatus.COMPLETED;
import static io.github.grpcidempotency.resource.IdempotencyStatus.FAILED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.internal.engine.EngineSettings;
import io.github.grpcidempotency.internal.engine.Engines;
import io.github.grpcidempotency.internal.engine.Stores;
import io.github.grpcidempotency.internal.event.CallEvents;
import io.github.grpcidempotency.internal.event.DecisionLog;
import io.github.grpcidempotency.internal.event.Listeners;
import io.github.grpcidempotency.internal.record.KeyedRequest;
import io.github.grpcidempotency.internal.record.Replay;
import io.github.grpcidempotency.internal.waiting.WaitLimits;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.procedure.ResponseProtection;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.spi.StoreTransaction;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.github.grpcidempotency.thing.ForwardingClaim;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The parts that a store need not know: how answers are sealed, fingerprints compared and statuses
 * resolved.
 */
class OwnedClaimTest {
  private static final Duration LEASE = Duration.ofMinutes(5);
  private static final IdempotencyKey KEY = new IdempotencyKey(Caller.of(UUID.randomUUID()), "key");
  private static final CreateThingRequest REQUEST =
      CreateThingRequest.newBuilder().setName("a thing").setRequestId("1").build();
  private static final Thing RESPONSE = Thing.newBuilder().setName("a thing").build();

  private final InMemoryIdempotencyStore store = new InMemoryIdempotencyStore(LEASE);
  private final Engines engines =
      new Engines(
          Stores.of(store),
          new EngineSettings(
              new Listeners(List.of()),
              new DecisionLog(Optional.empty()),
              Duration.ofHours(1),
              WaitLimits.DEFAULT,
              Runnable::run));

  private final List<Optional<Throwable>> unknown = new ArrayList<>();

  @AfterEach
  void close() {
    engines.close();
  }

  @Test
  void aResponseIsSealedOnceHoweverOftenItIsRecorded() {
    AtomicInteger seals = new AtomicInteger();
    OwnedClaim operation = win(request(createThing().protect(new Counting(seals))));

    assertThat(operation.keptOf(RESPONSE)).isEqualTo(operation.keptOf(RESPONSE));
    assertThat(operation.keptOf(Thing.getDefaultInstance()))
        .isNotEqualTo(operation.keptOf(RESPONSE));
    assertThat(seals).hasValue(3);
  }

  @Test
  void aResponseThatIsTooLargeIsRefusedBeforeItIsSerialized() {
    OwnedClaim operation = win(request(createThing()));

    assertThat(settler().complete(operation, unserializable(100 << 20)))
        .isEqualTo(Claim.Settled.DONE);

    assertThat(store.find(KEY, RecordedProcedure.of(operation.procedure())))
        .get()
        .isInstanceOfSatisfying(
            ClaimResult.Recorded.class,
            recorded ->
                assertThat(recorded.outcome())
                    .isEqualTo(new RecordedOutcome.Reference(Optional.empty())));
  }

  @Test
  void aResponseForWhichThereIsNoMemoryLeavesARecordWithoutIt() {
    OwnedClaim operation = win(request(createThing()));

    assertThat(settler().complete(operation, unserializable(1))).isEqualTo(Claim.Settled.DONE);

    assertThat(engines.of(KEY.caller()).claim(operation.request(), () -> false))
        .isInstanceOf(ClaimResult.Recorded.class);
  }

  /** Returns a message of a size, for which there is no memory. */
  private static Message unserializable(int size) {
    return (Message)
        Proxy.newProxyInstance(
            OwnedClaimTest.class.getClassLoader(),
            new Class<?>[] {Message.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "getSerializedSize" -> size;
                  case "toByteString" -> throw new OutOfMemoryError("Java heap space");
                  default -> method.invoke(Thing.getDefaultInstance(), arguments);
                });
  }

  @Test
  void aTransactionEndsWhereItsAnswerCannotBeSealed() {
    Transaction transaction = new Transaction();
    KeyedRequest request = request(createThing().protect(new Failing()));
    OwnedClaim operation =
        engines
            .of(KEY.caller())
            .own(
                new ForwardingClaim(win(request).claim()) {
                  @Override
                  public Optional<StoreTransaction> transaction() {
                    return Optional.of(transaction);
                  }
                },
                request,
                eventsOf(request));

    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> settler().complete(operation, RESPONSE));

    assertThat(transaction.rolledBack).isTrue();
  }

  @Test
  void anAbandonedCallOfAnOlderFingerprintVersionIsTakenOverByTheSameRequestOnly() {
    KeyedRequest older = request(createThing().fingerprint(Fingerprinter.wholeRequest()));
    Procedure newer =
        createThing()
            .fingerprint(Fingerprinter.wholeRequest().ignoringSince(2, "request_id"))
            .build();
    Claim abandoned = win(older).claim();
    KeyedRequest same = KeyedRequest.of(KEY, newer, REQUEST, Optional.empty(), false);
    assertThat(engines.of(KEY.caller()).claim(same, () -> false))
        .as("while it runs")
        .isInstanceOf(ClaimResult.InFlight.class);
    store.advance(LEASE);

    assertThat(
            engines
                .of(KEY.caller())
                .claim(
                    KeyedRequest.of(
                        KEY,
                        newer,
                        REQUEST.toBuilder().setRequestId("2").build(),
                        Optional.empty(),
                        false),
                    () -> false))
        .isInstanceOf(ClaimResult.InFlight.class);
    Claim successor = win(same).claim();

    assertThat(successor.operationId()).isEqualTo(abandoned.operationId());
    assertThat(successor.request().fingerprint()).isEqualTo(older.fingerprint());
  }

  @Test
  void theStatusFromTheStoreTakesPrecedence() {
    Procedure procedure = createThing().status(id -> COMPLETED).build();
    ClaimResult.Recorded recorded =
        ClaimResult.Recorded.of(
                UUID.randomUUID(),
                procedure.name(),
                Fingerprinter.wholeRequest().fingerprint(REQUEST),
                answer(Optional.of(ResourceId.of(7))),
                Instant.EPOCH)
            .withStatus(Optional.of(FAILED));

    assertThat(Replay.status(procedure, recorded, unknown::add)).contains(FAILED);
  }

  private OwnedClaim win(KeyedRequest request) {
    ClaimResult result = engines.of(KEY.caller()).claim(request, () -> false);
    assertThat(result).isInstanceOf(ClaimResult.Won.class);
    return engines
        .of(KEY.caller())
        .own(((ClaimResult.Won) result).claim(), request, eventsOf(request));
  }

  private Settler settler() {
    return engines.of(KEY.caller()).settler();
  }

  private CallEvents eventsOf(KeyedRequest request) {
    return engines.events(request.procedure(), Entry.CALL);
  }

  private static KeyedRequest request(ProcedureBuilder<Thing> procedure) {
    return KeyedRequest.of(KEY, procedure.build(), REQUEST, Optional.empty(), false);
  }

  private static RecordedOutcome answer(Optional<ResourceId> resource) {
    return new RecordedOutcome.Response(RESPONSE.toByteString(), resource);
  }

  private static ProcedureBuilder<Thing> createThing() {
    return Procedure.of(ThingServiceGrpc.getCreateThingMethod());
  }

  /** Seals differently every time, as ciphers do. */
  private record Counting(AtomicInteger seals) implements ResponseProtection {
    @Override
    public ByteString seal(ByteString answer, ByteString binding) {
      return ByteString.copyFromUtf8("seal " + seals.incrementAndGet());
    }

    @Override
    public ByteString open(ByteString stored, ByteString binding) {
      throw new UnsupportedOperationException();
    }
  }

  private record Failing() implements ResponseProtection {
    @Override
    public ByteString seal(ByteString answer, ByteString binding) {
      throw new IllegalStateException("the keys are out of reach");
    }

    @Override
    public ByteString open(ByteString stored, ByteString binding) {
      throw new UnsupportedOperationException();
    }
  }

  private static final class Transaction implements StoreTransaction {
    private boolean rolledBack;

    @Override
    public boolean isTaken() {
      return true;
    }

    @Override
    public void setRollbackOnly() {}

    @Override
    public Claim.Settled commit() {
      return Claim.Settled.DONE;
    }

    @Override
    public void rollback() {
      rolledBack = true;
    }

    @Override
    public void close() {
      rollback();
    }
  }
}
