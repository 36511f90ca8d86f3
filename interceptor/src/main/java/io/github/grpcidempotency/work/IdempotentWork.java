package io.github.grpcidempotency.work;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import com.google.rpc.Code;
import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.internal.context.OperationContext;
import io.github.grpcidempotency.internal.decision.ClaimDecider;
import io.github.grpcidempotency.internal.decision.Decision;
import io.github.grpcidempotency.internal.decision.Outcome;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.runtime.Engine;
import io.github.grpcidempotency.internal.runtime.KeyedRequest;
import io.github.grpcidempotency.internal.runtime.Operation;
import io.github.grpcidempotency.internal.runtime.Replay;
import io.github.grpcidempotency.internal.runtime.ReplayStatus;
import io.github.grpcidempotency.internal.runtime.Setup;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.proto.v1.RecordedError;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.StoreException;
import java.lang.ref.Reference;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * Runs work once per token, with the same leases, fencing tokens, transactions and replays as
 * calls. Use it for a scheduler whose runs may be started twice, a consumer whose messages may be
 * delivered twice, or a handler of a {@code HANDLER_INTERNAL} procedure. As for calls, the
 * execution of the procedure decides what a crash between effect and record means.
 *
 * <p>Work always fails closed: it does not run while the store cannot be reached. The procedure's
 * key policy and key source have no effect. Within the work, the transaction of a transactional
 * procedure and {@code TransactionalCompletion} work as in a handler. Thread-safe. Blocks: the work
 * runs on the calling thread.
 */
public final class IdempotentWork implements AutoCloseable {
  private final Engine engine;

  private IdempotentWork(IdempotencyStore store) {
    this.engine = new Engine(store, new IdempotencyListener() {}, "token", Runnable::run);
  }

  /**
   * Checks the procedures and the store, and returns a runner. Close it when the last work has
   * ended.
   *
   * @throws io.github.grpcidempotency.procedure.SetupException if anything is wrong; it lists every
   *     problem
   * @throws io.github.grpcidempotency.store.StoreException if the store cannot be reached
   */
  public static IdempotentWork on(IdempotencyStore store, Procedure... kinds) {
    Setup.check(Procedures.of(kinds), Optional.of(store));
    return new IdempotentWork(store);
  }

  /**
   * Runs a piece of work, or returns the recorded result of an earlier run.
   *
   * @param kind the procedure of the work; its retention, execution and policies apply
   * @param caller the user on whose behalf it runs
   * @param token identifies the operation for its caller, such as a {@link
   *     io.github.grpcidempotency.key.ScheduleKey} or a message's id; shares one namespace with the
   *     keys of the caller's calls
   * @param input all that the work depends on; the same token with another input is refused
   * @param results parses a recorded result
   * @param work does the work and returns the result to record
   * @throws WorkRefusedException if there is no result: the work is running elsewhere, its result
   *     could not be recorded yet, the input differs, the store cannot be reached, or the guard
   *     denies the replay
   * @throws IllegalArgumentException if the token is not {@linkplain IdempotencyKey#isKey usable}
   * @throws WorkFailedException if the work throws it, or threw it in an earlier run that was
   *     recorded
   * @throws Exception anything else that the work throws; the token is then free again
   */
  public <T extends Message> WorkResult<T> run(
      Procedure kind,
      Caller caller,
      String token,
      Message input,
      Parser<T> results,
      Callable<T> work)
      throws Exception {
    KeyedRequest request = KeyedRequest.of(new IdempotencyKey(caller, token), kind, input);
    return new Attempt<>(request, results, work).result();
  }

  /** Stops renewing leases and recording results in the background. */
  @Override
  public void close() {
    engine.close();
  }

  /** Returns whether the failure counts; if not, another owner has the token. */
  private boolean fail(Operation operation, Throwable thrown) {
    WorkFailedException failure =
        thrown instanceof WorkFailedException said
            ? said
            : new WorkFailedException(Code.UNKNOWN, "the work failed");
    String message = failure.getMessage() == null ? "" : failure.getMessage();
    return engine
        .settler()
        .fail(
            operation,
            new Outcome.Failed(failure.code(), false),
            () ->
                new RecordedOutcome.Failure(
                    RecordedError.newBuilder()
                        .setCode(failure.code().getNumber())
                        .setMessage(message)
                        .build()
                        .toByteString()));
  }

  private WorkRefusedException inProgress() {
    return new WorkRefusedException(Refusal.inProgress(engine.lease()));
  }

  /** One call of {@link #run}. It decides and acts, and does so again after each wait. */
  private final class Attempt<T extends Message> implements Decision.Actor<Exception> {
    private final KeyedRequest request;
    private final Procedure kind;
    private final Parser<T> results;
    private final Callable<T> work;
    private ClaimResult met;
    private long end;
    private Optional<WorkResult<T>> result = Optional.empty();

    Attempt(KeyedRequest request, Parser<T> results, Callable<T> work) {
      this.request = request;
      this.kind = request.procedure();
      this.results = results;
      this.work = work;
      this.met = engine.claim(request);
      this.end = System.nanoTime() + kind.inFlightPolicy().limit().toNanos();
    }

    WorkResult<T> result() throws Exception {
      while (result.isEmpty()) {
        Duration left = Duration.ofNanos(Math.max(0, end - System.nanoTime()));
        ClaimDecider.decide(met, kind, request::compare, Optional.of(left)).accept(this);
      }
      return result.get();
    }

    @Override
    public void execute(Claim claim) throws Exception {
      Operation operation = new Operation(request, claim);
      Object running = new Object();
      engine.track(claim, running);
      T value;
      try {
        value = OperationContext.run(operation, work);
      } catch (Throwable thrown) {
        if (!fail(operation, thrown)) {
          WorkRefusedException overtaken = inProgress();
          overtaken.initCause(thrown);
          throw overtaken;
        }
        throw thrown;
      } finally {
        Reference.reachabilityFence(running);
      }
      switch (complete(operation, value)) {
        case DONE ->
            result =
                Optional.of(
                    new WorkResult<>(
                        value,
                        false,
                        ReplayStatus.first(kind),
                        claim.operationId(),
                        claim.expires(),
                        Set.of()));
        case LOST -> throw inProgress();
        case ROLLED_BACK ->
            throw new WorkFailedException(Code.INTERNAL, "the transaction was rolled back");
      }
    }

    private Claim.Settled complete(Operation operation, T value) throws WorkRefusedException {
      try {
        return engine.settler().complete(operation, value);
      } catch (StoreException undone) {
        throw new WorkRefusedException(Refusal.storeUnavailable());
      }
    }

    /** Work fails closed, even if its procedure says otherwise. */
    @Override
    public void executeUnguarded(StoreException outage) throws WorkRefusedException {
      throw new WorkRefusedException(Refusal.storeUnavailable());
    }

    @Override
    public void attach(ClaimResult.InFlight running, Duration limit) throws InterruptedException {
      CompletableFuture<ClaimResult> ended = new CompletableFuture<>();
      var waiter = engine.waiter().await(request, running, limit, ended::complete);
      try {
        met = ended.get();
      } catch (InterruptedException interrupted) {
        waiter.cancel();
        throw interrupted;
      } catch (ExecutionException impossible) {
        throw new AssertionError(impossible);
      }
      if (met instanceof ClaimResult.InFlight) {
        end = System.nanoTime(); // its wait is over: do not wait again
      }
    }

    @Override
    public void refuse(Refusal refusal) throws WorkRefusedException {
      throw new WorkRefusedException(refusal);
    }

    @Override
    public void replay(ClaimResult.Recorded recorded)
        throws WorkFailedException, WorkRefusedException {
      try {
        Replay.of(kind, request.key(), recorded).accept(new Reader(recorded));
      } catch (InvalidProtocolBufferException unreadable) {
        throw new WorkRefusedException(Replay.unreadable(kind, recorded, unreadable).refusal());
      } catch (WorkFailedException | WorkRefusedException said) {
        throw said;
      } catch (Exception impossible) {
        throw new AssertionError(impossible);
      }
    }

    /** Reads the recorded result, or throws the recorded failure. */
    private final class Reader implements Replay.Actor<Exception> {
      private final ClaimResult.Recorded recorded;

      Reader(ClaimResult.Recorded recorded) {
        this.recorded = recorded;
      }

      @Override
      public void response(Replay.Response response) throws InvalidProtocolBufferException {
        T value = results.parseFrom(response.bytes());
        result =
            Optional.of(
                new WorkResult<>(
                    value,
                    true,
                    response.status(),
                    recorded.operationId(),
                    engine.retain(request, recorded),
                    response.omitted()));
      }

      @Override
      public void failure(ByteString bytes)
          throws InvalidProtocolBufferException, WorkFailedException {
        RecordedError error = RecordedError.parseFrom(bytes);
        Code code = Code.forNumber(error.getCode());
        if (code == null || code == Code.OK) {
          throw new InvalidProtocolBufferException("a recorded error has code " + error.getCode());
        }
        Instant unused = engine.retain(request, recorded);
        throw new WorkFailedException(code, error.getMessage());
      }

      @Override
      public void refused(Refusal refusal) throws WorkRefusedException {
        throw new WorkRefusedException(refusal);
      }
    }
  }
}
