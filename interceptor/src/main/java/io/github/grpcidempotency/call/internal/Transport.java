package io.github.grpcidempotency.call.internal;

import com.google.protobuf.ByteString;
import com.google.rpc.Code;
import io.github.grpcidempotency.internal.context.OperationContext;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.record.Replay;
import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.store.TransactionMisuseException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * How a call arrives, runs its handler and is answered: by gRPC, or as work without gRPC. A
 * transport decides nothing. Its methods are called one at a time, unless stated otherwise.
 */
public interface Transport {
  /** Returns the time until the call's deadline; empty if it has none. Thread-safe. */
  Optional<Duration> timeLeft();

  /** Returns what to do with this call during an outage of the store. */
  OutagePolicy outagePolicy();

  /** Returns whether nobody waits for the answer any more. Thread-safe. */
  boolean isGone();

  /**
   * Returns whether the caller's own thread runs the handler. Such a handler is not given up if it
   * does not answer in time. If it answers within its own transaction, the response is sent before
   * it is recorded, because the caller itself ends that transaction.
   */
  boolean callerRunsHandler();

  /**
   * Returns the executor on which the call continues after a wait, one step at a time. From now on,
   * cancellations are reported on it, too.
   */
  Executor resumption();

  /**
   * Runs the handler in the run's context, and reports its answer to the run. Throws the exception
   * of the handler.
   */
  void runHandler(Run run) throws Throwable;

  /** Returns the answer for an exception of the handler. */
  Answer answerOf(Throwable thrown);

  /**
   * Stops the handler, whose result is dropped: it sees a cancelled call. The handler may be run
   * again.
   */
  void stopHandler();

  /** Runs the handler without a claim. The handler answers by itself. */
  void runUnprotected(OperationContext context);

  /**
   * Reads a recorded response.
   *
   * @return sends the response, with the expiry time of its record
   * @throws Exception if the response cannot be read
   */
  Consumer<Instant> read(Replay.Response response, UUID operationId) throws Exception;

  /**
   * Reads a recorded error.
   *
   * @return sends the error
   * @throws Exception if the error cannot be read
   */
  Consumer<Instant> readError(ByteString error, UUID operationId) throws Exception;

  void refuse(Refusal refusal, String keyName);

  /** Sends an error of a transaction that did not commit, or whose outcome is unknown. */
  void fail(Code code, String message);

  /** Reports that the handler has misused its transaction. */
  void misused(TransactionMisuseException misuse);

  /** Ends a call that is {@linkplain #isGone gone} and has no answer. */
  void cancelled();

  /**
   * Refuses the call, unless its answer is already being sent. Its handler continues. Thread-safe.
   *
   * @param first runs before the refusal is sent
   */
  void cutOff(Refusal refusal, String keyName, Runnable first);

  /** Prevents {@link #cutOff} from now on. Returns false if the call has already been refused. */
  boolean keep();
}
