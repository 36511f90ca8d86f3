package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.ThingService;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Who may run, who may settle, and what becomes of those who may not. */
class OwnershipTest extends CallTest {
  @Test
  void ofManyCallsToTwoServersOneRunsAndAllTheOthersGetItsAnswerOrComeBack() {
    List<ThingServer> servers = List.of(start(), start());
    List<TestCall.Started> calls = new ArrayList<>();
    for (int call = 0; call < 50; call++) {
      calls.add(keyed(servers.get(call % 2)).start());
    }

    Set<ByteString> answers = new HashSet<>();
    for (TestCall.Started call : calls) {
      Seen seen = call.end();
      if (seen.code() == Status.Code.OK) {
        answers.addAll(seen.messages());
      } else {
        seen.refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");
      }
    }

    assertThat(answers).hasSize(1);
    assertThat(servers).extracting(server -> server.things().runs()).containsOnlyOnce(1);
    assertThat(servers.stream().mapToInt(server -> server.things().runs()).sum()).isEqualTo(1);
  }

  @Test
  void aSlowHandlerKeepsItsKeyForManyLeases() throws InterruptedException {
    UnreliableStore shortLeases = newStore(SHORT_LEASE);
    ThingServer server = start(server().store(shortLeases));
    ThingServer other = start(server().store(shortLeases));
    TestCall.Started call = keepOneRunning(server);
    ThingService.Running running = server.things().nextRunning();

    awaitMoreThanALease(shortLeases);
    keyed(other).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");

    running.succeed();
    keyed(other).end().replays(call.end().first());
    assertThat(other.things().runs()).isZero();
  }

  @Test
  void theAnswerOfAStaleOwnerIsWithheld() throws InterruptedException {
    ThingServer stale = start();
    ThingServer successor = start();
    TestCall.Started zombie = keepOneRunning(stale);
    ThingService.Running running = stale.things().nextRunning();
    letPass(LEASE);
    Seen first = keyed(successor).end().first();

    running.succeed();

    zombie.end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");
    keyed(stale).end().replays(first);
  }

  @Test
  void theFailureOfAStaleOwnerNeitherCountsNorFreesTheKeyOfItsSuccessor()
      throws InterruptedException {
    ThingServer stale = start();
    ThingServer successor = start();
    stale.things().keepRunning();
    successor.things().keepRunning();
    TestCall.Started zombie = keyed(stale).start();
    ThingService.Running staleRun = stale.things().nextRunning();
    letPass(LEASE);
    TestCall.Started second = keyed(successor).start();
    ThingService.Running successorRun = successor.things().nextRunning();

    staleRun.fail(Status.NOT_FOUND);

    zombie.end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");
    keyed(stale).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");
    successorRun.succeed();
    keyed(stale).end().replays(second.end().first());
  }

  @Test
  void anAnswerThatCannotBeRecordedIsWithheldAndRecordedLater() {
    ThingServer server = start();
    ThingServer other = start();
    store.failSettlements();

    keyed(server).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");

    keyed(server).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");
    keyed(other).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");
    store.recover();
    await().until(() -> keyed(other).end().isReplayed());
    await().until(() -> keyed(server).end().isReplayed());
    assertThat(server.things().runs()).isEqualTo(1);
    assertThat(other.things().runs()).isZero();
  }

  static Stream<Consumer<UnreliableStore>> otherFaults() {
    return Stream.of(
        UnreliableStore::loseAnswersOfSettlements,
        UnreliableStore::failSettlementsInAnIllegalState,
        UnreliableStore::throwErrorsAtSettlements);
  }

  @ParameterizedTest
  @MethodSource("otherFaults")
  void anAnswerIsRecordedLaterWhateverTheFaultOfItsFirstRecording(Consumer<UnreliableStore> fault) {
    ThingServer server = start();
    fault.accept(store);

    keyed(server).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");

    store.recover();
    await().until(() -> keyed(server).end().isReplayed());
    assertThat(server.things().runs()).isEqualTo(1);
  }

  @Test
  void anAnswerThatIsToBeRecordedLaterKeepsItsKeyForManyLeases() {
    UnreliableStore shortLeases = newStore(SHORT_LEASE);
    ThingServer server = start(server().store(shortLeases));
    ThingServer other = start(server().store(shortLeases));
    shortLeases.failSettlements();
    keyed(server).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");

    awaitMoreThanALease(shortLeases);
    keyed(other).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");

    shortLeases.recover();
    await().until(() -> keyed(other).end().isReplayed());
    assertThat(server.things().runs() + other.things().runs()).isEqualTo(1);
  }
}
