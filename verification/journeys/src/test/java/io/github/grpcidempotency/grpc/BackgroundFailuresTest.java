package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.common.util.concurrent.MoreExecutors;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import io.github.grpcidempotency.thing.EventJournal;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.ThingService;
import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

/** Background work survives every exception, and ends properly. */
class BackgroundFailuresTest extends CallTest {
  /** Throws at every event an exception that a service's metrics may throw: an error of linkage. */
  private final EventJournal fatal = new EventJournal();

  BackgroundFailuresTest() {
    fatal.onEach(
        event -> {
          throw new NoClassDefFoundError("metrics");
        });
  }

  @Test
  void anErrorOutOfAListenerDoesNotEndLeaseRenewal() throws InterruptedException {
    InMemoryIdempotencyStore leases = new InMemoryIdempotencyStore(SHORT_LEASE);
    UnreliableStore shortLeases = new UnreliableStore(leases);
    ThingServer server = start(server().store(shortLeases).listener(fatal.listener()));
    ThingServer other = start(server().store(shortLeases));
    TestCall.Started lost = keepOneRunning(server);
    ThingService.Running losing = server.things().nextRunning();
    takeOver(other, leases, SHORT_LEASE);
    await().until(() -> fatal.kinds().contains(Kind.LEASE_LOST));

    String key = UUID.randomUUID().toString();
    TestCall.Started call = call(server, "a thing").as(ALICE).key(key).start();
    ThingService.Running running = server.things().nextRunning();
    awaitMoreThanALease(shortLeases);

    call(other, "a thing")
        .as(ALICE)
        .key(key)
        .end()
        .refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");
    running.succeed();
    call.end().first();
    losing.succeed();
    lost.end();
  }

  @Test
  void anErrorOutOfTheStoreDoesNotEndLeaseRenewal() throws InterruptedException {
    UnreliableStore shortLeases = new UnreliableStore(new InMemoryIdempotencyStore(SHORT_LEASE));
    ThingServer server = start(server().store(shortLeases));
    ThingServer other = start(server().store(shortLeases));
    TestCall.Started call = keepOneRunning(server);
    ThingService.Running running = server.things().nextRunning();
    int before = shortLeases.errors();
    shortLeases.throwErrorsAtClaims();
    await().until(() -> shortLeases.errors() > before);
    shortLeases.recover();

    awaitMoreThanALease(shortLeases);

    keyed(other).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");
    running.succeed();
    call.end().first();
  }

  @Test
  void anErrorOutOfAListenerLosesNoAnswer() {
    ThingServer server = start(server().listener(fatal.listener()));
    store.failSettlements();
    keyed(server).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");
    store.recover();

    await().until(() -> keyed(server).end().isReplayed());

    assertThat(server.things().runs()).isEqualTo(1);
    assertThat(fatal.kinds()).contains(Kind.RECORDING_DEFERRED, Kind.RECORDED_LATE);
  }

  @Test
  void anErrorOutOfTheStoreLosesNoWaitingCall() throws InterruptedException {
    ThingServer server = start(attaching());
    TestCall.Started first = keepOneRunning(server);
    List<TestCall.Started> duplicates = attach(server, 3);
    ThingService.Running running = server.things().nextRunning();
    store.throwErrorsAtClaims();

    running.succeed();
    await().until(() -> store.errors() > 0);
    store.recover();

    Seen answer = first.end().first();
    duplicates.forEach(duplicate -> duplicate.end().replays(answer));
  }

  @Test
  void ofWaitingCallsThatAnExecutorRejectsOneRunsAndTheOthersGetItsAnswer()
      throws InterruptedException {
    Executor full =
        task -> {
          throw new OutOfMemoryError("unable to create native thread");
        };
    ThingServer server = start(attaching(full));
    TestCall.Started first = keepOneRunning(server);
    List<TestCall.Started> duplicates = attach(server, 5);

    server.things().nextRunning().fail(Status.UNAVAILABLE);
    assertThat(first.end().code()).isEqualTo(Status.Code.UNAVAILABLE);
    server.things().nextRunning().succeed();

    List<Seen> ends = duplicates.stream().map(TestCall.Started::end).toList();
    assertThat(ends).allMatch(end -> end.code() == Status.Code.OK);
    assertThat(ends).filteredOn(end -> !end.isReplayed()).hasSize(1);
    assertThat(server.things().runs()).isEqualTo(2);
  }

  @Test
  void aCallThatStillWaitsWhenTheInterceptorIsClosedIsAnswered() throws InterruptedException {
    ThingServer server = start(attaching());
    TestCall.Started first = keepOneRunning(server);
    List<TestCall.Started> duplicates = attach(server, 5);

    server.closeInterceptor();

    for (TestCall.Started duplicate : duplicates) {
      duplicate.end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS").retryAfter();
    }
    server.things().nextRunning().succeed();
    keyed(server).end().replays(first.end().first());
  }

  @Test
  void aCallThatBeginsToWaitAfterTheInterceptorIsClosedIsAnswered() throws InterruptedException {
    ThingServer server = start(attaching());
    TestCall.Started first = keepOneRunning(server);

    server.closeInterceptor();

    keyed(server).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS").retryAfter();
    server.things().nextRunning().succeed();
    first.end().first();
  }

  @Test
  void anAnswerThatCannotBeRecordedAfterTheInterceptorIsClosedIsAborted()
      throws InterruptedException {
    ThingServer server = start();
    TestCall.Started call = keepOneRunning(server);
    ThingService.Running running = server.things().nextRunning();
    server.closeInterceptor();
    store.failSettlements();

    // On the test's own thread: what is thrown into a handler fails the test.
    running.succeed();

    call.end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");
    store.recover();
    keyed(server).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");
  }

  @Test
  void anAnswerThatWaitsToBeRecordedIsTriedOnceMoreWhenTheInterceptorIsClosed() {
    ThingServer server = start();
    ThingServer other = start();
    store.failSettlements();
    keyed(server).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");
    // Its next attempt is due in a second or so.
    int before = store.settlements();
    await().until(() -> store.settlements() >= before + 5);
    store.recover();

    server.closeInterceptor();

    assertThat(keyed(other).end().isReplayed()).isTrue();
  }

  private ThingServer.Builder attaching() {
    return attaching(MoreExecutors.directExecutor());
  }

  private ThingServer.Builder attaching(Executor executor) {
    return server()
        .createThing(thing -> thing.attach(Duration.ofMinutes(1)))
        .settings(settings -> settings.listener(journal.listener()).executor(executor));
  }
}
