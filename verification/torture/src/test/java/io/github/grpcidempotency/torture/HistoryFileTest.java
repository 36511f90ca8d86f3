package io.github.grpcidempotency.torture;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.torture.History.Answer;
import io.github.grpcidempotency.torture.History.Call;
import io.github.grpcidempotency.torture.History.Change;
import io.github.grpcidempotency.torture.History.CommittedEffect;
import io.github.grpcidempotency.torture.History.Fault;
import io.github.grpcidempotency.torture.History.Finding;
import io.github.grpcidempotency.torture.History.Life;
import io.github.grpcidempotency.torture.History.Purpose;
import io.github.grpcidempotency.torture.History.Replication;
import io.github.grpcidempotency.torture.History.Session;
import io.github.grpcidempotency.torture.History.StoredAnswer;
import io.github.grpcidempotency.torture.Operation.Scope;
import io.github.grpcidempotency.torture.v1.Effect;
import io.github.grpcidempotency.torture.v1.EffectRequest;
import io.grpc.Status.Code;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HistoryFileTest {
  private static final Scope SCOPE = new Scope(new UUID(0, 1), "a key");
  private static final UUID VALUE = new UUID(0, 2);

  @Test
  void aHistoryIsReadAsItWasWritten(@TempDir Path directory) {
    Answer answer =
        Answer.of(
            Effect.newBuilder()
                .setUser(SCOPE.user().toString())
                .setKey(SCOPE.key())
                .setForm("RESERVED")
                .setPayload("a")
                .setValue(VALUE.toString())
                .build());
    Operation operation =
        new Operation(
            SCOPE,
            Form.RESERVED,
            EffectRequest.newBuilder().setPayload("a").setDelayMillis(7).build());
    History written =
        new History(
            Duration.ofSeconds(2),
            List.of(
                call(operation, Code.OK, "", Optional.of(answer)),
                call(operation, Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS", Optional.empty())),
            List.of(
                new CommittedEffect(
                    SCOPE, "server-1", Form.LATE, "a", VALUE, true, Way.BY_ITSELF, 3, 4),
                new CommittedEffect(
                    SCOPE, "server-1", Form.FAIL_OPEN, "", VALUE, false, Way.PLAIN, 3, 4)),
            List.of(new Change("TAKEOVER", SCOPE, 5)),
            List.of(new Fault(FaultKind.CUT_AFTER, 1, Plan.COMMIT, 6, 6)),
            List.of(new StoredAnswer(SCOPE, answer.bytes())),
            8,
            11,
            List.of(
                new Life(0, 1, 9, ServerLife.ordinary(), ""),
                new Life(1, 1, 2, ServerLife.ordinary(), "it may not")),
            new Replication(true, Map.of(VALUE, 3L)),
            List.of(new Finding(Rule.TRANSACTIONS_END, "server-1", "idle", 7)));
    Path file = directory.resolve("history.tsv");

    HistoryFile.write(file, "a run", written, List.of());

    assertThat(HistoryFile.read(file)).isEqualTo(written);
  }

  private static Call call(Operation operation, Code code, String reason, Optional<Answer> answer) {
    return new Call(
        Purpose.WORK,
        operation,
        1,
        1,
        2,
        3_000,
        false,
        code,
        reason,
        answer.isPresent(),
        answer,
        new Session(Manner.ELSEWHERE, false));
  }
}
