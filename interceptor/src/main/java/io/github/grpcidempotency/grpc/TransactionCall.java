package io.github.grpcidempotency.grpc;

import io.github.grpcidempotency.internal.runtime.Engine;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.store.Claim.Settled;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.StoreTransaction;
import io.github.grpcidempotency.store.TransactionMisuseException;
import io.github.grpcidempotency.store.support.RateLimitedLog;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A call of a transactional procedure without a key. Its handler gets a plain transaction, so the
 * same handler works with and without a key. The transaction is committed before the answer is
 * sent.
 */
final class TransactionCall<RequestT, ResponseT> implements RecordingCall.Settler<ResponseT> {
  private static final Logger logger = LoggerFactory.getLogger(IdempotencyInterceptor.class);

  private final Procedure procedure;
  private final StoreTransaction transaction;
  private final ServerCall<RequestT, ResponseT> call;
  private final RecordingCall<RequestT, ResponseT> recording;
  private final RateLimitedLog log;

  TransactionCall(
      Procedure procedure,
      StoreTransaction transaction,
      ServerCall<RequestT, ResponseT> call,
      Engine engine,
      Context handlerContext) {
    this.log = engine.log();
    this.procedure = procedure;
    this.transaction = transaction;
    this.call = call;
    this.recording =
        RecordingCall.of(
            call, this, engine.running(), handlerContext, engine.bindsThreads(procedure));
  }

  /** Called before the handler starts. Returns the call for the handler. */
  ServerCall<RequestT, ResponseT> start() {
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

  /** Called when the handler has thrown an exception. gRPC answers with {@code UNKNOWN}. */
  void handlerThrew() {
    if (recording.abandon()) {
      transaction.rollback();
    }
  }

  @Override
  public void broken(Runnable leaveToGrpc) {
    transaction.rollback();
    leaveToGrpc.run();
  }

  @Override
  public String subject() {
    return "a call without a key";
  }

  @Override
  public String consequence() {
    return "Its transaction is rolled back.";
  }

  @Override
  public void unanswered() {
    transaction.rollback();
    ResponseWriter.rolledBack(call);
  }

  @Override
  public void closed(RecordingCall.Answer<ResponseT> answer) {
    if (answer.status().isOk() && answer.message().isPresent()) {
      Context.current().fork().run(() -> commit(answer));
    } else {
      transaction.rollback();
      IdempotencyMetadata.removeTerminalMark(answer.trailers());
      call.close(answer.status(), answer.trailers());
    }
  }

  private void commit(RecordingCall.Answer<ResponseT> answer) {
    try {
      if (transaction.commit() == Settled.DONE) {
        ResponseWriter.sendUnstamped(call, answer);
      } else {
        ResponseWriter.rolledBack(call);
      }
    } catch (TransactionMisuseException misuse) {
      logger.error("{}: {}", procedure.name(), misuse.getMessage(), misuse);
      call.close(Status.INTERNAL.withDescription(misuse.getMessage()), new Metadata());
    } catch (StoreException failure) {
      log.warn(
          procedure.name() + " commit",
          failure,
          procedure.name() + ": the transaction of a call without a key could not be committed");
      if (failure.failureCause().mayBeDone()) {
        call.close(
            Status.UNKNOWN.withDescription("it is unknown whether the transaction was committed"),
            new Metadata());
      } else {
        ResponseWriter.unavailable(call, failure);
      }
    } catch (RuntimeException unknown) {
      log.warn(
          procedure.name() + " unknown",
          unknown,
          procedure.name()
              + ": it is unknown whether the transaction of a call without a key was committed");
      call.close(
          Status.UNKNOWN.withDescription("it is unknown whether the transaction was committed"),
          new Metadata());
    }
  }
}
