package io.github.grpcidempotency.grpc;

import com.google.protobuf.Message;
import com.google.rpc.Code;
import io.github.grpcidempotency.decision.Outcome;
import io.github.grpcidempotency.decision.Refusal;
import io.github.grpcidempotency.procedure.IdempotencyStatus;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.runtime.Engine;
import io.github.grpcidempotency.store.Claim;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;

/**
 * A call that owns its key: keeps the lease while the handler runs, and settles when it has ended.
 * What is settled is persisted first and sent then, so no client ever sees an answer that a retry
 * would not get.
 */
final class ClaimedCall<RequestT, ResponseT> implements RecordingCall.Settler<ResponseT> {
  private final Engine engine;
  private final Claim claim;
  private final Procedure procedure;
  private final ServerCall<RequestT, ResponseT> call;
  private final RecordingCall<RequestT, ResponseT> recording;

  ClaimedCall(Engine engine, Claim claim, ServerCall<RequestT, ResponseT> call) {
    this.engine = engine;
    this.claim = claim;
    this.procedure = claim.request().procedure();
    this.call = call;
    this.recording = new RecordingCall<>(call, this);
  }

  /** Begins to keep the lease, and returns the call for the handler. */
  ServerCall<RequestT, ResponseT> start() {
    engine.hold(claim, recording);
    return recording;
  }

  /** The handler threw: gRPC answers with {@code UNKNOWN}, whatever it was. */
  void handlerThrew() {
    if (recording.abandon()) {
      persist(() -> settleFailure(Status.UNKNOWN, new Metadata()));
    }
  }

  @Override
  public void broken() {
    persist(() -> settleFailure(Status.INTERNAL, new Metadata()));
  }

  @Override
  public void closed(RecordingCall.Answer<ResponseT> answer) {
    if (answer.status().isOk() && answer.message().isPresent()) {
      persist(() -> settleResponse(answer, answer.message().get()));
    } else {
      // OK without a message is INTERNAL: gRPC itself says so when the call is closed.
      Status failure = answer.status().isOk() ? Status.INTERNAL : answer.status();
      persist(() -> settleFailure(failure, answer.trailers()));
      call.close(answer.status(), answer.trailers());
    }
  }

  private void settleResponse(RecordingCall.Answer<ResponseT> answer, ResponseT message) {
    try {
      switch (engine.settler().complete(claim, (Message) message)) {
        case DONE ->
            Answering.send(call, answer, claim.operationId(), claim.expires(), firstStatus());
        case COME_AGAIN -> refuse();
        case ROLLED_BACK -> Answering.rolledBack(call);
      }
    } catch (IllegalStateException misuse) {
      call.close(Status.INTERNAL.withDescription(misuse.getMessage()), new Metadata());
    }
  }

  private IdempotencyStatus firstStatus() {
    return procedure.statusResolver().isPresent()
        ? IdempotencyStatus.PROCESSING
        : IdempotencyStatus.COMPLETED;
  }

  private void settleFailure(Status status, Metadata trailers) {
    boolean marked = IdempotencyMetadata.removeTerminalMark(trailers);
    engine
        .settler()
        .fail(
            claim,
            new Outcome.Failed(Code.forNumber(status.getCode().value()), marked),
            () -> TerminalError.record(status, trailers, procedure.failurePolicy()));
  }

  /** Asks the client to come again: the answer is not recorded yet, or it is another owner's. */
  private void refuse() {
    Refusal refusal = Refusal.inProgress(engine.lease());
    engine.tell(events -> events.refused(procedure.name(), refusal.reason()));
    Answering.refuse(call, refusal, engine.keyName());
  }

  /** Runs store work beyond the reach of the call's cancellation and deadline. */
  private static void persist(Runnable work) {
    Context.current().fork().run(work);
  }
}
