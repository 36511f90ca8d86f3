package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.google.crypto.tink.KeysetHandle;
import com.google.crypto.tink.RegistryConfiguration;
import com.google.crypto.tink.aead.AeadConfig;
import com.google.crypto.tink.aead.PredefinedAeadParameters;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.github.grpcidempotency.internal.record.KeyedRequest;
import io.github.grpcidempotency.internal.record.RecordSeal;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.proto.v1.RecordedError;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.Transport;
import io.github.grpcidempotency.tink.TinkProtection;
import io.grpc.Status;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;

/**
 * For any bytes in a record, a retry gets the answer that they encode, or the error that it cannot
 * be read. An input is the bytes.
 */
class StoredRecordFuzzTest {
  private static final UUID ALICE = new UUID(1, 2);
  private static final CreateThingRequest REQUEST =
      CreateThingRequest.newBuilder().setName("a thing").build();
  private static final TinkProtection TINK = protection();

  /** A store in memory forgets nothing, so it is replaced after so many inputs. */
  private static final int INPUTS_PER_STORE = 5_000;

  private static InMemoryIdempotencyStore store = new InMemoryIdempotencyStore();
  private static Optional<ThingServer> plain = Optional.empty();
  private static Optional<ThingServer> sealed = Optional.empty();
  private static int inputs;

  @FuzzTest
  void aRetryGetsTheRecordedAnswerOrAnErrorThatItCannotBeRead(byte[] input)
      throws InterruptedException {
    if (inputs++ % INPUTS_PER_STORE == 0) {
      restart();
    }
    ByteString bytes = ByteString.copyFrom(input);
    RecordedOutcome response = new RecordedOutcome.Response(bytes, Optional.empty());
    RecordedOutcome failure = new RecordedOutcome.Failure(bytes);

    assertResponse(bytes, retry(UnaryOperator.identity(), response, plain));
    assertResponse(bytes, retry(StoredRecordFuzzTest::protect, response, sealed));
    assertFailure(bytes, retry(UnaryOperator.identity(), failure, plain));
    assertFailure(bytes, retry(StoredRecordFuzzTest::protect, failure, sealed));
    assertUnreadable(retry(UnaryOperator.identity(), response, sealed));
    assertUnreadable(retry(UnaryOperator.identity(), failure, sealed));
  }

  private static void assertResponse(ByteString bytes, Seen seen) {
    try {
      Thing recorded = Thing.parseFrom(bytes);
      assertThat(seen.code()).as("%s", seen.status()).isEqualTo(Status.Code.OK);
      assertThat(seen.isReplayed()).isTrue();
      assertThat(seen.thing()).isEqualTo(recorded);
    } catch (InvalidProtocolBufferException unreadable) {
      assertUnreadable(seen);
    }
  }

  private static void assertFailure(ByteString bytes, Seen seen) {
    RecordedError recorded;
    try {
      recorded = RecordedError.parseFrom(bytes);
    } catch (InvalidProtocolBufferException unreadable) {
      assertUnreadable(seen);
      return;
    }
    if (recorded.getCode() < 1 || recorded.getCode() > 16) {
      assertUnreadable(seen);
    } else if (seen.code().value() == recorded.getCode() && !isUnreadable(seen)) {
      assertThat(seen.headers()).isEmpty();
      assertThat(Optional.ofNullable(seen.status().getDescription()).orElse(""))
          .isEqualTo(recorded.getMessage());
    } else {
      assertThat(recorded.getTrailersCount()).as("trailers of which one has no name").isPositive();
      assertUnreadable(seen);
    }
  }

  private static boolean isUnreadable(Seen seen) {
    return seen.status().toString().contains("its recorded answer cannot be read");
  }

  private static void assertUnreadable(Seen seen) {
    seen.refused(Status.Code.INTERNAL, "IDEMPOTENCY_RECORD_UNREADABLE").forGood();
  }

  /** Records an outcome under a new key, and calls with it. */
  private static Seen retry(
      UnaryOperator<ProcedureBuilder<Thing>> recordedBy,
      RecordedOutcome outcome,
      Optional<ThingServer> server) {
    String key = UUID.randomUUID().toString();
    Procedure procedure =
        recordedBy
            .apply(Procedure.of(ThingServer.CREATE_THING).execution(Execution.RESERVED))
            .build();
    KeyedRequest first =
        KeyedRequest.of(
            new IdempotencyKey(Caller.of(ALICE), key), procedure, REQUEST, Optional.empty(), false);
    ((ClaimResult.Won) store.claim(first.claimRequest()))
        .claim()
        .complete(new RecordSeal(first.key(), first.procedure()).seal(outcome));
    return CallTest.call(server.orElseThrow(), REQUEST.getName()).as(ALICE).key(key).end();
  }

  private static ProcedureBuilder<Thing> protect(ProcedureBuilder<Thing> procedure) {
    return procedure.protect(TINK);
  }

  private static void restart() throws InterruptedException {
    stop();
    store = new InMemoryIdempotencyStore();
    plain = Optional.of(start(UnaryOperator.identity()));
    sealed = Optional.of(start(StoredRecordFuzzTest::protect));
  }

  private static ThingServer start(UnaryOperator<ProcedureBuilder<Thing>> createThing) {
    return ThingServer.on(Transport.DIRECT_EXECUTOR)
        .store(store)
        .withoutResource()
        .createThing(createThing)
        .start();
  }

  @AfterAll
  static void stop() {
    for (Optional<ThingServer> server : List.of(plain, sealed)) {
      if (server.isPresent()) {
        server.get().close();
      }
    }
  }

  private static TinkProtection protection() {
    try {
      AeadConfig.register();
      return TinkProtection.of(
          KeysetHandle.generateNew(
              PredefinedAeadParameters.AES256_GCM, RegistryConfiguration.get()));
    } catch (GeneralSecurityException impossible) {
      throw new AssertionError(impossible);
    }
  }
}
