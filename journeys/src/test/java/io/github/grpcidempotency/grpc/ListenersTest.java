package io.github.grpcidempotency.grpc;

import static io.github.grpcidempotency.store.FailureCause.NO_CONNECTION;
import static io.github.grpcidempotency.store.FailurePhase.NOTHING_SENT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.ThingService;
import io.github.grpcidempotency.thing.Transport;
import io.grpc.Status;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class ListenersTest extends CallTest {
  private final Journal journal = new Journal();

  ListenersTest() {
    super(Transport.IN_PROCESS);
  }

  @Test
  void aListenerHearsOfARunItsReplayAndARefusal() {
    ThingServer server = start(server().listener(journal));
    String operation =
        keyed(server).end().first().trailer(IdempotencyMetadata.OPERATION).orElseThrow();

    keyed(server).end();
    call(server, "another thing").as(ALICE).key(KEY).end();
    call(server, "another thing").as(ALICE).key("malformed").end();

    assertThat(journal.events)
        .containsExactly(
            "claimed " + operation,
            "settled " + operation + " COMPLETE",
            "replayed " + operation,
            "refused IDEMPOTENCY_KEY_REUSED",
            "refused IDEMPOTENCY_KEY_INVALID");
  }

  @Test
  void aListenerHearsOfAReleasedKey() {
    ThingServer server = start(server().listener(journal));
    server
        .things()
        .handle((request, observer) -> observer.onError(Status.NOT_FOUND.asRuntimeException()));

    keyed(server).end();

    assertThat(journal.events).hasSize(2).last().asString().endsWith("RELEASE");
  }

  @Test
  void aListenerHearsOfAnUnguardedRun() {
    ThingServer server = start(server().listener(journal));
    store.failClaims(NOTHING_SENT, NO_CONNECTION);

    keyed(server).end();

    assertThat(journal.events).containsExactly("unprotected FAILED_OPEN");
  }

  @Test
  void aListenerHearsOfALostLease() throws InterruptedException {
    ThingServer stale = start(server().listener(journal));
    ThingServer successor = start();
    stale.things().keepRunning();
    TestCall.Started zombie = keyed(stale).start();
    ThingService.Running running = stale.things().nextRunning();
    memory.advance(LEASE);
    String operation =
        keyed(successor).end().first().trailer(IdempotencyMetadata.OPERATION).orElseThrow();

    running.succeed();
    zombie.end();

    assertThat(journal.events)
        .containsExactly(
            "claimed " + operation, "lost " + operation, "refused IDEMPOTENCY_IN_PROGRESS");
  }

  @Test
  void aListenerHearsOfAnAnswerThatIsRecordedLate() {
    ThingServer server = start(server().listener(journal));
    store.failSettlements();
    keyed(server).end();
    store.recover();

    await().until(() -> journal.events.size() == 4);

    assertThat(journal.events)
        .extracting(event -> event.split(" ", 2)[0])
        .containsExactly("claimed", "deferred", "refused", "late");
  }

  @Test
  void whatAListenerThrowsIsItsOwnBusiness() {
    journal.fails = true;
    ThingServer server = start(server().listener(journal));
    Seen first = keyed(server).end().first();

    keyed(server).end().replays(first);
    call(server, "another thing")
        .as(ALICE)
        .key(KEY)
        .end()
        .refused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_REUSED");
    call(server, "a thing")
        .as(ALICE)
        .key("malformed")
        .end()
        .refused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_INVALID");

    assertThat(journal.events).hasSize(5);
  }

  /** Records its events. */
  private static final class Journal implements IdempotencyListener {
    final List<String> events = new CopyOnWriteArrayList<>();
    volatile boolean fails;

    @Override
    public void claimed(IdempotencyEvent.Claimed event) {
      write("claimed " + event.operationId());
    }

    @Override
    public void replayed(IdempotencyEvent.Replayed event) {
      write("replayed " + event.operationId());
    }

    @Override
    public void refused(IdempotencyEvent.Refused event) {
      write("refused " + event.reason());
    }

    @Override
    public void settled(IdempotencyEvent.Settled event) {
      write("settled " + event.operationId() + " " + event.settlement());
    }

    @Override
    public void unprotected(IdempotencyEvent.Unprotected event) {
      write("unprotected " + event.cause());
    }

    @Override
    public void leaseLost(IdempotencyEvent.LeaseLost event) {
      write("lost " + event.operationId());
    }

    @Override
    public void recordingDeferred(IdempotencyEvent.RecordingDeferred event) {
      write("deferred " + event.operationId());
    }

    @Override
    public void recordedLate(IdempotencyEvent.RecordedLate event) {
      write("late " + event.operationId());
    }

    private void write(String event) {
      events.add(event);
      if (fails) {
        throw new IllegalStateException("the listener has a defect");
      }
    }
  }
}
