package io.github.grpcidempotency.grpc;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.store.Claim.Settled;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.StoreTransaction;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.Status;
import java.lang.ref.Cleaner;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A call without a key to a transactional procedure: its handler gets a plain transaction, so that
 * it need not care. Committed first, answered then.
 */
final class TransactionCall<RequestT, ResponseT> extends BufferedCall<RequestT, ResponseT>
    implements RecordingCall.Settler<ResponseT> {
  private static final Logger logger = LoggerFactory.getLogger(IdempotencyInterceptor.class);

  /** Ends the transactions of calls that their handlers have dropped and nobody can close. */
  private static final Cleaner FORGOTTEN = Cleaner.create();

  private final Engine engine;
  private final Procedure procedure;
  private final Optional<Caller> caller;
  private Optional<StoreTransaction> transaction = Optional.empty();

  TransactionCall(
      Engine engine,
      Procedure procedure,
      Optional<Caller> caller,
      ServerCall<RequestT, ResponseT> call,
      Metadata headers,
      ServerCallHandler<RequestT, ResponseT> next) {
    super(call, headers, next);
    this.engine = engine;
    this.procedure = procedure;
    this.caller = caller;
  }

  @Override
  void serve(RequestT message) {
    StoreTransaction open;
    try {
      open = engine.begin(caller);
    } catch (StoreException unreachable) {
      logger.warn("{}: no transaction could be opened", procedure.name(), unreachable);
      call()
          .close(Status.UNAVAILABLE.withDescription("the database is unavailable"), new Metadata());
      return;
    }
    transaction = Optional.of(open);
    RecordingCall<RequestT, ResponseT> recording = new RecordingCall<>(call(), this);
    Cleaner.Cleanable unused = FORGOTTEN.register(recording, open::rollback);
    try {
      run(CurrentCall.of(context(), open), recording, message);
    } catch (Throwable thrown) {
      if (recording.abandon()) {
        open.rollback();
      }
      throw thrown;
    }
  }

  @Override
  void cancelledEarly() {}

  @Override
  public void broken() {
    transaction.ifPresent(StoreTransaction::rollback);
  }

  @Override
  public void closed(RecordingCall.Answer<ResponseT> answer) {
    if (answer.status().isOk() && answer.message().isPresent()) {
      Context.current().fork().run(() -> commit(answer));
    } else {
      transaction.ifPresent(StoreTransaction::rollback);
      IdempotencyMetadata.removeTerminalMark(answer.trailers());
      call().close(answer.status(), answer.trailers());
    }
  }

  private void commit(RecordingCall.Answer<ResponseT> answer) {
    try {
      Settled settled = transaction.map(StoreTransaction::commit).orElse(Settled.ROLLED_BACK);
      if (settled == Settled.DONE) {
        Answering.sendUnstamped(call(), answer);
      } else {
        Answering.rolledBack(call());
      }
    } catch (IllegalStateException misuse) {
      logger.error("{}: {}", procedure.name(), misuse.getMessage(), misuse);
      call().close(Status.INTERNAL.withDescription(misuse.getMessage()), new Metadata());
    } catch (StoreException unknown) {
      logger.warn("{}: it is not known whether it was committed", procedure.name(), unknown);
      call().close(Status.UNKNOWN.withDescription("the outcome is not known"), new Metadata());
    }
  }
}
