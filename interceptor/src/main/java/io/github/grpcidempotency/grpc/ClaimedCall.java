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
 * A call that owns its key. It renews the lease while the handler runs, and settles the claim when
 * the handler has ended. An outcome is persisted before it is sent, so no client gets an answer
 * that a retry would not get.
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

  /** Starts to renew the lease, and returns the call for the handler. */
  final ServerCall<RequestT, ResponseT> start() {
    engine.track(operation, claimTook);
    recording.begin();
    return recording;
  }

  /**
   * Called when the handler has returned. Settles a call that must be settled on the handler's
   * thread.
   */
  void handlerReturned() {
    recording.handlerReturned();
  }

  /**
   * Called when the handler has thrown an exception. gRPC answers with {@code UNKNOWN}.
   *
   * @return whether the failure does not count, so that the call gets another answer: another owner
   *     has the key, or the outcome depends on a transaction that the handler has left open
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

  /**
   * Settles the exception of the handler. Returns whether it counts; if not, the call is refused.
   */
  private boolean settleThrown() {
    boolean counts = settleFailure(Status.UNKNOWN, new Metadata());
    if (!counts) {
      refuseForNow();
    }
    return counts;
  }

  /**
   * Settles the exception of the handler, even if the handler has answered.
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
   * Settles now, or after the end of the handler's own transaction if the handler answered within
   * one. The thread that ends the transaction belongs to the host, so the settlement runs on
   * another thread.
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
      // gRPC turns OK without a message into INTERNAL when the call is closed.
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

  /** Runs {@code PastResources} in the handler's context, while the transaction is still open. */
  private Metadata explain(Status failure, Metadata trailers) {
    Context before = handlerContext.attach();
    try {
      return ResourceGone.explain(failure, trailers, operation.request(), engine.log());
    } finally {
      handlerContext.detach(before);
    }
  }

  /** Settles a failure. Returns whether it counts; if not, another owner has the key. */
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

  /** Refuses the call, because another owner may have the key. */
  private void refuseForNow() {
    refuse(Refusal.inProgress(engine.lease()));
  }

  /** Asks the client to retry: the answer is not recorded yet, or another owner has the key. */
  private void refuse(Refusal refusal) {
    operation.events().refused(refusal, Optional.of(operation.claim().operationId()), null);
    ResponseWriter.refuse(call, refusal, keyName);
  }

  /** Detaches the call from its handler, whose result is dropped. */
  final void dropRecording() {
    recording.drop();
  }

  /** Runs store work in a context that is not affected by the call's cancellation and deadline. */
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
