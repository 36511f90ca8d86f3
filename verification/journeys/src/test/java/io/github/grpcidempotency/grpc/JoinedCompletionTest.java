package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.StringValue;
import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.Settlement;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.store.Claim.Settled;
import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.work.IdempotentWork;
import io.github.grpcidempotency.work.WorkResult;
import io.grpc.Status;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Reserved calls whose answers are recorded by transactions that end after their handlers. */
class JoinedCompletionTest extends CallTest {
  private JoiningStore joining = new JoiningStore(memory);

  @Test
  void anAnswerIsSentOnceItsTransactionHasEnded() {
    joining = new JoiningStore(new InMemoryIdempotencyStore(Duration.ofMillis(300)));
    CompletableFuture<JoiningStore.JoinedClaim> open = new CompletableFuture<>();
    ThingServer server = start(joined(ThingHandler::answer, open::complete));

    TestCall.Started call = keyed(server).start();
    JoiningStore.JoinedClaim claim = open.join();
    int renewals = joining.renewals();
    await().until(() -> joining.renewals() >= renewals + 4);
    assertThat(call.seen()).isNotDone();
    claim.end(Settled.DONE);

    Seen first = call.end().first();
    keyed(server).end().replays(first);
    assertThat(journal.only(IdempotencyEvent.ClaimSettled.class).settlement())
        .isEqualTo(Settlement.COMPLETE);
  }

  @Test
  void anAnswerWhoseTransactionCouldNotBeCommittedIsNotSentAndFreesTheKey() {
    ThingServer server =
        start(
            joined(
                ThingHandler::answer,
                claim -> {
                  claim.end(Settled.ROLLED_BACK);
                  throw new IllegalStateException("the commit has failed");
                }));

    for (int call = 1; call <= 2; call++) {
      Seen end = keyed(server).end();

      assertThat(end.code()).isEqualTo(Status.Code.INTERNAL);
      assertThat(end.status().getDescription()).contains("rolled back");
      assertThat(end.messages()).isEmpty();
    }
    assertThat(server.things().runs()).isEqualTo(2);
    assertThat(journal.kinds())
        .containsExactly(
            "KeyFound", "Claimed", "SettlementFailed", "KeyFound", "Claimed", "SettlementFailed");
  }

  @Test
  void anAnswerThatIsCommittedCountsAlthoughTheHandlerThrowsAfterwards() {
    ThingServer server =
        start(
            joined(
                ThingHandler::answer,
                claim -> {
                  claim.end(Settled.DONE);
                  throw new IllegalStateException("after the commit");
                }));

    Seen first = keyed(server).end().first();
    keyed(server).end().replays(first);

    assertThat(journal.only(IdempotencyEvent.ClaimSettled.class).settlement())
        .isEqualTo(Settlement.COMPLETE);
  }

  @Test
  void anAnswerWhoseKeyWasLostMeanwhileIsRefused() {
    ThingServer server = start(joined(ThingHandler::answer, claim -> claim.end(Settled.LOST)));

    keyed(server).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");
  }

  @Test
  void anErrorWaitsForTheEndOfTheTransactionAsWell() {
    ThingServer server =
        start(
            joined(
                (request, answer) -> answer.onError(Status.ABORTED.asException()),
                claim -> claim.end(Settled.ROLLED_BACK)));

    assertThat(keyed(server).end().code()).isEqualTo(Status.Code.ABORTED);
    assertThat(keyed(server).end().code()).isEqualTo(Status.Code.ABORTED);

    assertThat(server.things().runs()).isEqualTo(2);
  }

  @Test
  void aHandlerThatSendsTwoMessagesIsSettledOnceItsTransactionHasEnded() {
    ThingServer server =
        start(
            joined(
                (request, answer) -> {
                  answer.onNext(ThingHandler.newThing(request));
                  ThingHandler.answer(request, answer);
                },
                claim -> claim.end(Settled.ROLLED_BACK)));

    assertThat(keyed(server).end().code()).isNotEqualTo(Status.Code.OK);

    await().until(() -> !journal.all(IdempotencyEvent.ClaimSettled.class).isEmpty());
    assertThat(journal.only(IdempotencyEvent.ClaimSettled.class).settlement())
        .isEqualTo(Settlement.RELEASE);
  }

  @Test
  void workWithinATransactionOfItsCallerIsSettledOnceThatHasEnded() throws Exception {
    Procedure job = Procedure.named("jobs/close-month").execution(Execution.RESERVED).build();
    try (IdempotentWork work =
        IdempotentWork.builder(joining, job).listener(journal.listener()).build()) {
      CompletableFuture<JoiningStore.JoinedClaim> open = new CompletableFuture<>();
      WorkResult<StringValue> first =
          run(
              work,
              job,
              () -> {
                open.complete(JoiningStore.join());
                return StringValue.of("closed");
              });
      assertThat(first.replayed()).isFalse();
      assertThat(journal.kinds()).containsExactly("KeyFound", "Claimed");

      open.join().end(Settled.DONE);
      await().until(() -> journal.kinds().contains("ClaimSettled"));

      assertThat(run(work, job, () -> StringValue.of("again")).replayed()).isTrue();
    }
  }

  private static WorkResult<StringValue> run(
      IdempotentWork work, Procedure job, Callable<StringValue> body) throws Exception {
    return work.run(
        job, Caller.of(ALICE), KEY, StringValue.of("2026-11"), StringValue.parser(), body);
  }

  /**
   * A server whose handlers run within transactions.
   *
   * @param end ends a handler's transaction once the handler has returned
   */
  private ThingServer.Builder joined(ThingHandler handler, Consumer<JoiningStore.JoinedClaim> end) {
    return ThingServer.on(transport)
        .store(joining)
        .handler(
            (request, answer) -> {
              JoiningStore.JoinedClaim unused = JoiningStore.join();
              handler.create(request, answer);
            })
        .listener(journal.listener())
        .inside(AfterCallback.halfClose(() -> end.accept(JoiningStore.current())));
  }
}
