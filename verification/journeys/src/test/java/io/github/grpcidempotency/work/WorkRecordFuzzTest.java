package io.github.grpcidempotency.work;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.StringValue;
import com.google.rpc.Code;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.internal.record.KeyedRequest;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.proto.v1.RecordedError;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import java.util.Optional;
import java.util.UUID;

/** Work is not run again, whatever bytes its record contains. An input is the bytes. */
class WorkRecordFuzzTest {
  private static final Caller SYSTEM = Caller.of(new UUID(0, 1));
  private static final Procedure JOB =
      Procedure.named("jobs/close-month").execution(Execution.RESERVED).build();
  private static final StringValue MONTH = StringValue.of("2026-11");

  @FuzzTest
  void workIsNotRunAgainWhateverItsRecordContains(byte[] input) throws Exception {
    ByteString bytes = ByteString.copyFrom(input);
    InMemoryIdempotencyStore store = new InMemoryIdempotencyStore();
    record(store, "result", new RecordedOutcome.Response(bytes, Optional.empty()));
    record(store, "failure", new RecordedOutcome.Failure(bytes));
    try (IdempotentWork work = IdempotentWork.builder(store, JOB).build()) {
      assertResult(bytes, work);
      assertFailure(bytes, work);
    }
  }

  private static void assertResult(ByteString bytes, IdempotentWork work) throws Exception {
    try {
      assertThat(run(work, "result").value()).isEqualTo(StringValue.parseFrom(bytes));
    } catch (WorkRefusedException refused) {
      assertUnreadable(refused);
    }
  }

  private static void assertFailure(ByteString bytes, IdempotentWork work) throws Exception {
    try {
      throw new AssertionError("a failure gave " + run(work, "failure").value());
    } catch (WorkRefusedException refused) {
      assertUnreadable(refused);
    } catch (WorkFailedException failed) {
      RecordedError recorded = parsed(bytes);
      assertThat(failed.code()).isNotIn(Code.OK, Code.UNRECOGNIZED);
      assertThat(failed.code().getNumber()).isEqualTo(recorded.getCode());
      assertThat(failed).hasMessage(recorded.getMessage());
    }
  }

  private static RecordedError parsed(ByteString bytes) {
    try {
      return RecordedError.parseFrom(bytes);
    } catch (InvalidProtocolBufferException damaged) {
      throw new AssertionError("it could be read", damaged);
    }
  }

  private static void assertUnreadable(WorkRefusedException refused) {
    assertThat(refused.reason()).isEqualTo(RefusalReason.RECORD_UNREADABLE);
  }

  private static WorkResult<StringValue> run(IdempotentWork work, String token) throws Exception {
    return work.run(
        JOB,
        SYSTEM,
        token,
        MONTH,
        StringValue.parser(),
        () -> {
          throw new AssertionError("the work is run again");
        });
  }

  private static void record(
      InMemoryIdempotencyStore store, String token, RecordedOutcome outcome) {
    KeyedRequest first =
        KeyedRequest.of(new IdempotencyKey(SYSTEM, token), JOB, MONTH, Optional.empty(), false);
    ((ClaimResult.Won) store.claim(first.claimRequest())).claim().complete(outcome);
  }
}
