package io.github.grpcidempotency.grpc;

import com.google.protobuf.Message;
import com.google.rpc.Code;
import io.github.grpcidempotency.internal.decision.Outcome;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.runtime.Engine;
import io.github.grpcidempotency.internal.runtime.Operation;
import io.github.grpcidempotency.internal.runtime.ReplayStatus;
import io.github.grpcidempotency.internal.wire.TerminalError;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.TransactionMisuseException;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A call that owns its key: keeps the lease while the handler runs, and settles when it has ended.
 * What is settled is persisted first and sent then, so no client ever sees an answer that a retry
 * would not get.
 */
class ClaimedCall<RequestT, ResponseT> implements RecordingCall.Settler<ResponseT> {
  private final Engine engine;
  private final Operation operation;
  private final Procedure procedure;
  private final String keyName;
  private final ServerCall<RequestT, ResponseT> call;
  private final Context handlerContext;
  private final Duration claimTook;
  private final RecordingCall<RequestT, ResponseT> recording;
  private volatile boolean deferred;

  ClaimedCall(
      Engine engine,
      Operation operation,
      String keyName,
      ServerCall<RequestT, ResponseT> call,
      Context handlerContext,
      Duration claimTook) {
    this.engine = engine;
    this.operation = operation;
    this.procedure = operation.procedure();
    this.keyName = keyName;
    this.call = call;
    this.handlerContext = handlerContext;
    this.claimTook = claimTook;
    this.recording =
        RecordingCall.of(
            call, this, engine.running(), handlerContext, engine.bindsThreads(procedure));
  }

  /** Begins to keep the lease, and returns the call for the handler. */
  final ServerCall<RequestT, ResponseT> start() {
    engine.track(operation, claimTook);
    recording.begin();
    return recording;
  }

  /** The handler has returned: settles what must be settled on its thread. */
  void handlerReturned() {
    recording.handlerReturned();
  }

  /**
   * The handler threw: gRPC answers with {@code UNKNOWN}, whatever it was.
   *
   * @return whether the call is answered otherwise, because the failure does not count: another
   *     owner has the key, or the end of the transaction decides that the handler has left open
   */
  boolean handlerThrew(Throwable thrown) {
    if (deferred) {
      engine
          .log()
          .warn(
              procedure.name() + " threw",
              thrown,
              ("%s: the handler of operation %s answered and then threw; its answer counts only if"
                      + " its transaction commits")
                  .formatted(procedure.name(), operation.claim().operationId()));
      return true;
    }
    return recording.abandon() && !settleThrown();
  }

  /** Returns whether it counts that the handler threw; if not, the call is refused. */
  private boolean settleThrown() {
    boolean counts = settleFailure(Status.UNKNOWN, new Metadata());
    if (!counts) {
      refuseForNow();
    }
    return counts;
  }

  /**
   * Settles that the handler threw, whatever it has answered.
   *
   * @return as {@link #handlerThrew}
   */
  final boolean failInAnyCase() {
    boolean unused = recording.abandon();
    return !settleThrown();
  }

  @Override
  public void broken(Runnable leaveToGrpc) {
    operation.claim().failing();
    onceItsTransactionHasEnded(
        () -> {
          boolean unused = settleFailure(Status.INTERNAL, new Metadata());
        });
    leaveToGrpc.run();
  }

  @Override
  public String subject() {
    return "operation " + operation.claim().operationId();
  }

  @Override
  public String consequence() {
    return operation.claim().transaction().isPresent()
        ? "Its transaction is rolled back."
        : "Its outcome is unknown: a retry runs the handler again once the lease has ended.";
  }

  @Override
  public void unanswered() {
    Context.current().fork().run(() -> engine.settler().giveUp(operation));
    if (operation.claim().transaction().isPresent()) {
      ResponseWriter.rolledBack(call);
    } else {
      refuseForNow();
    }
  }

  @Override
  public void closed(RecordingCall.Answer<ResponseT> answer) {
    if (!answer.status().isOk() || answer.message().isEmpty()) {
      operation.claim().failing();
    }
    onceItsTransactionHasEnded(() -> settle(answer));
  }

  /**
   * Settles now, unless the handler has answered within a transaction of its own that is still
   * open. The thread that ends it is the host's, so the settlement moves to another one.
   */
  private void onceItsTransactionHasEnded(Runnable settlement) {
    Runnable elsewhere =
        () -> engine.executor().execute(() -> operation.events().within(settlement));
    deferred = operation.claim().deferSettlement(elsewhere);
    if (!deferred) {
      settlement.run();
    }
  }

  private void settle(RecordingCall.Answer<ResponseT> answer) {
    if (answer.status().isOk() && answer.message().isPresent()) {
      settleResponse(answer, answer.message().get());
    } else {
      // OK without a message is INTERNAL: gRPC itself says so when the call is closed.
      Status failure = answer.status().isOk() ? Status.INTERNAL : answer.status();
      Metadata trailers = explain(failure, answer.trailers());
      if (settleFailure(failure, trailers)) {
        ResponseWriter.fail(call, answer.status(), trailers, operation.claim().operationId());
      } else {
        refuseForNow();
      }
    }
  }

  private void settleResponse(RecordingCall.Answer<ResponseT> answer, ResponseT message) {
    try {
      switch (persist(() -> engine.settler().complete(operation, (Message) message))) {
        case DONE -> send(answer, true);
        case UNREFERRED -> send(answer, false);
        case LOST, UNKNOWN -> refuseForNow();
        case ROLLED_BACK -> ResponseWriter.rolledBack(call);
      }
    } catch (StoreException undone) {
      refuse(Refusal.storeUnavailable(undone.failureCause()));
    } catch (TransactionMisuseException misuse) {
      call.close(Status.INTERNAL.withDescription(misuse.getMessage()), new Metadata());
    }
  }

  private void send(RecordingCall.Answer<ResponseT> answer, boolean refers) {
    Claim claim = operation.claim();
    ResponseWriter.send(
        call, answer, claim.operationId(), claim.expires(), ReplayStatus.first(procedure, refers));
  }

  /** What tells of past resources finds the handler's context, and its transaction still open. */
  private Metadata explain(Status failure, Metadata trailers) {
    Context before = handlerContext.attach();
    try {
      return ResourceGone.explain(failure, trailers, operation.request(), engine.log());
    } finally {
      handlerContext.detach(before);
    }
  }

  /** Returns whether the failure counts; if not, another owner has the key. */
  private boolean settleFailure(Status status, Metadata trailers) {
    boolean marked = IdempotencyMetadata.removeTerminalMark(trailers);
    Outcome.Failed failed = new Outcome.Failed(Code.forNumber(status.getCode().value()), marked);
    return persist(
        () ->
            engine
                .settler()
                .fail(
                    operation,
                    failed,
                    () -> TerminalError.record(status, trailers, procedure.failurePolicy())));
  }

  /** Refuses for as long as another owner may have the key. */
  private void refuseForNow() {
    refuse(Refusal.inProgress(engine.lease()));
  }

  /** Asks the client to come again: the answer is not recorded (yet), or it is another owner's. */
  private void refuse(Refusal refusal) {
    operation.events().refused(refusal, Optional.of(operation.claim().operationId()), null);
    ResponseWriter.refuse(call, refusal, keyName);
  }

  /** Takes the call from its handler, which has run in vain. */
  final void dropRecording() {
    recording.drop();
  }

  /** Runs store work beyond the reach of the call's cancellation and deadline. */
  final <T> T persist(Supplier<T> work) {
    Context beyond = Context.current().fork();
    Context previous = beyond.attach();
    try {
      return work.get();
    } finally {
      beyond.detach(previous);
    }
  }
}
