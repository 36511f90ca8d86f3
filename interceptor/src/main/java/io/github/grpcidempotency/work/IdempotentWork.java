package io.github.grpcidempotency.work;

import com.google.common.base.Stopwatch;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import com.google.rpc.Code;
import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.event.WaitEnd;
import io.github.grpcidempotency.internal.context.OperationContext;
import io.github.grpcidempotency.internal.decision.ClaimDecider;
import io.github.grpcidempotency.internal.decision.Decision;
import io.github.grpcidempotency.internal.decision.Outcome;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.event.CallEvents;
import io.github.grpcidempotency.internal.event.DecisionLog;
import io.github.grpcidempotency.internal.event.Listeners;
import io.github.grpcidempotency.internal.runtime.Engine;
import io.github.grpcidempotency.internal.runtime.Engines;
import io.github.grpcidempotency.internal.runtime.InFlightWaiter;
import io.github.grpcidempotency.internal.runtime.KeyedRequest;
import io.github.grpcidempotency.internal.runtime.Operation;
import io.github.grpcidempotency.internal.runtime.Replay;
import io.github.grpcidempotency.internal.runtime.ReplayStatus;
import io.github.grpcidempotency.internal.runtime.Setup;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.ClaimTiming;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.procedure.WaitLimits;
import io.github.grpcidempotency.proto.v1.RecordedError;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.TransactionMisuseException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs work once per token, with the same leases, fencing tokens, transactions and replays as
 * calls. Use it for a scheduler that may start a run twice, for a consumer that may get a message
 * twice, or for a handler of a {@code HANDLER_INTERNAL} procedure. As for calls, the execution of
 * the procedure decides whether the work runs again after a crash between effect and record.
 *
 * <p>Work always fails closed: it does not run while the store cannot be reached. The procedure's
 * key policy and key source have no effect. Within the work, the transaction of a transactional
 * procedure and {@code TransactionalCompletion} work as in a handler. Thread-safe. Blocks: the work
 * runs on the calling thread.
 *
 * <p>Work has no time limit. Its lease is renewed, and its transaction stays open, until the work
 * returns or throws.
 */
public final class IdempotentWork implements AutoCloseable {
  private static final Logger logger = LoggerFactory.getLogger(IdempotentWork.class);

  /** The limit applies only to calls; work has no time limit. */
  private static final Duration NO_LIMIT = Duration.ZERO;

  private final Engines engines;

  private IdempotentWork(Builder builder) {
    this.engines =
        Engines.on(
            builder.store,
            new Listeners(builder.listeners),
            new DecisionLog(builder.keyHashSecret),
            "token",
            builder.claimTiming,
            NO_LIMIT,
            builder.waitLimits,
            ForkJoinPool.commonPool());
  }

  /**
   * Returns a builder.
   *
   * @param kinds the procedures of the work
   */
  public static Builder builder(IdempotencyStore store, Procedure... kinds) {
    return new Builder(store, kinds);
  }

  /**
   * Runs a piece of work, or returns the recorded result of an earlier run. If the calling thread
   * has an open transaction of the host when the work ends, the result is recorded after its
   * commit, and the token is free again after its rollback.
   *
   * @param kind the procedure of the work; its retention, execution and policies apply
   * @param caller the user on whose behalf it runs
   * @param token identifies the operation for its caller, such as a {@link
   *     io.github.grpcidempotency.key.ScheduleKey} or a message's id; tokens and the keys of the
   *     caller's calls are in the same namespace
   * @param input the input of the work; the same token with another input is refused
   * @param results parses a recorded result
   * @param work does the work and returns the result to record
   * @throws WorkRefusedException if there is no result: the work is running elsewhere, its result
   *     could not be recorded yet, the input differs, the store cannot be reached, or the guard
   *     denies the replay
   * @throws IllegalArgumentException if the token is not {@linkplain IdempotencyKey#isKey usable}
   * @throws WorkFailedException if the work throws it, or threw it in an earlier run that was
   *     recorded
   * @throws Exception if the work throws any other exception; the token is then free again
   */
  public <T extends Message> WorkResult<T> run(
      Procedure kind,
      Caller caller,
      String token,
      Message input,
      Parser<T> results,
      Callable<T> work)
      throws Exception {
    IdempotencyKey key = new IdempotencyKey(caller, token);
    Engine engine = engines.of(caller);
    CallEvents events =
        engines.events(kind, Entry.WORK).of(key, engines.keyName()).onShard(engine.shard());
    events.keyFound();
    KeyedRequest request = KeyedRequest.of(key, kind, input, events.trace(), false);
    return new Attempt<>(engine, request, events, results, work).result();
  }

  /** Stops renewing leases and recording results in the background. */
  @Override
  public void close() {
    engines.close();
  }

  /** Settles a failure. Returns whether it counts; if not, another owner has the token. */
  private static boolean fail(Engine engine, Operation operation, Throwable thrown) {
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

  /** One call of {@link #run}. It decides and acts, and decides again after each wait. */
  private static final class Attempt<T extends Message> implements Decision.Actor<Exception> {
    private final Engine engine;
    private final CallEvents events;
    private final Procedure kind;
    private final Parser<T> results;
    private final Callable<T> work;
    private KeyedRequest request;
    private Supplier<ClaimResult> next = this::claim;
    private ClaimResult met = ClaimResult.InFlight.unseen();
    private Duration claimTook = Duration.ZERO;
    private Optional<Long> endOfWait = Optional.empty();
    private Optional<InFlightWaiter.Waiter> waiter = Optional.empty();
    private Optional<Stopwatch> wait = Optional.empty();
    private Optional<WorkResult<T>> result = Optional.empty();

    Attempt(
        Engine engine,
        KeyedRequest request,
        CallEvents events,
        Parser<T> results,
        Callable<T> work) {
      this.engine = engine;
      this.request = request;
      this.events = events;
      this.kind = request.procedure();
      this.results = results;
      this.work = work;
    }

    private ClaimResult claim() {
      long begun = System.nanoTime();
      ClaimResult claimed = engine.claim(request);
      claimTook = Duration.ofNanos(System.nanoTime() - begun);
      return claimed;
    }

    WorkResult<T> result() throws Exception {
      while (result.isEmpty()) {
        Optional<InFlightWaiter.Waiter> turn = waiter;
        try {
          met = next.get();
          decide().accept(this);
        } finally {
          turn.ifPresent(InFlightWaiter.Waiter::endTurn);
        }
      }
      return result.get();
    }

    private Decision decide() {
      Optional<Duration> left =
          endOfWait.map(end -> Duration.ofNanos(Math.max(0, end - System.nanoTime())));
      Decision decision = ClaimDecider.decide(met, kind, request::compare, left);
      if (!(decision instanceof Decision.Attach)) {
        waitEnded(CallEvents.endOfWait(met));
      }
      return decision;
    }

    private void waitEnded(WaitEnd how) {
      wait.map(waited -> Duration.ofNanos(waited.elapsed(TimeUnit.NANOSECONDS)))
          .ifPresent(waited -> events.waitEnded(waited, how));
      wait = Optional.empty();
    }

    @Override
    public void execute(Claim claim) throws Exception {
      Operation operation = new Operation(request, claim, events);
      engine.track(operation, claimTook);
      T value;
      try {
        value =
            Objects.requireNonNull(
                OperationContext.run(operation, work),
                () -> kind.name() + ": the work returned null");
      } catch (Throwable thrown) {
        if (!confirm(operation)) {
          startOverUnlessInterrupted(thrown);
          return;
        }
        if (!fail(engine, operation, thrown)) {
          WorkRefusedException overtaken = inProgress(claim);
          overtaken.initCause(thrown);
          throw overtaken;
        }
        throw thrown;
      }
      if (!confirm(operation)) {
        startOver();
        return;
      }
      if (claim.deferSettlement(() -> completeLater(operation, value))) {
        result = Optional.of(first(claim, value, operation.namesResource(value)));
        return;
      }
      switch (complete(operation, value)) {
        case DONE -> result = Optional.of(first(claim, value, true));
        case UNREFERRED -> result = Optional.of(first(claim, value, false));
        case LOST, UNKNOWN -> throw inProgress(claim);
        case ROLLED_BACK ->
            throw new WorkFailedException(Code.INTERNAL, "the transaction was rolled back");
      }
    }

    /** Returns whether the claim is won; if not, the work has no effect. */
    private boolean confirm(Operation operation) throws WorkRefusedException {
      try {
        return engine.confirm(operation, claimTook);
      } catch (StoreException unasked) {
        throw refused(
            Refusal.storeUnavailable(unasked.failureCause()),
            Optional.of(operation.claim().operationId()),
            unasked);
      }
    }

    /** Drops the result of the work, which may run again after another claim. */
    private void startOver() {
      logger.debug(
          "{}: dropped the result of the work, because its claim was not won", kind.name());
      request = request.again();
      next = this::claim;
    }

    /** Drops the exception of the work, unless the thread was interrupted. */
    private void startOverUnlessInterrupted(Throwable thrown) throws InterruptedException {
      logger.debug(
          "{}: ignored an exception of the work, because its claim was not won",
          kind.name(),
          thrown);
      if (thrown instanceof InterruptedException interrupted) {
        throw interrupted;
      }
      startOver();
    }

    private WorkResult<T> first(Claim claim, T value, boolean refers) {
      return new WorkResult<>(
          value,
          false,
          ReplayStatus.first(kind, refers),
          claim.operationId(),
          claim.expires(),
          Set.of());
    }

    /** Records the result after the caller's transaction has ended. */
    private void completeLater(Operation operation, T value) {
      engine
          .executor()
          .execute(
              () -> {
                try {
                  Claim.Settled unused = engine.settler().complete(operation, value);
                } catch (StoreException | TransactionMisuseException heard) {
                  logger.debug(
                      "{}: could not record the result after the caller's transaction ended",
                      kind.name(),
                      heard);
                }
              });
    }

    private Claim.Settled complete(Operation operation, T value) throws WorkRefusedException {
      try {
        return engine.settler().complete(operation, value);
      } catch (StoreException undone) {
        throw refused(
            Refusal.storeUnavailable(undone.failureCause()),
            Optional.of(operation.claim().operationId()),
            null);
      }
    }

    /** Refuses the work: work always fails closed, even if its procedure fails open. */
    @Override
    public void executeUnguarded(StoreException outage) throws WorkRefusedException {
      throw refused(Refusal.storeUnavailable(outage.failureCause()), Optional.empty(), outage);
    }

    @Override
    public void attach(ClaimResult.InFlight running, Duration limit) throws InterruptedException {
      if (wait.isEmpty()) {
        wait = Optional.of(Stopwatch.createStarted());
        events.attached();
      }
      if (endOfWait.isEmpty()) {
        endOfWait = Optional.of(System.nanoTime() + limit.toNanos());
      }
      CompletableFuture<Supplier<ClaimResult>> ended = new CompletableFuture<>();
      request = request.again();
      InFlightWaiter.Waiter waits = engine.waiter().toRun(request, waiting(ended::complete));
      waiter = Optional.of(waits);
      waits.begin(running, limit);
      try {
        next = ended.get();
      } catch (InterruptedException interrupted) {
        boolean unused = waits.cancel();
        waitEnded(WaitEnd.CANCELLED);
        throw interrupted;
      } catch (ExecutionException impossible) {
        throw new AssertionError(impossible);
      }
    }

    /**
     * Returns the callbacks of a wait. The token is claimed only on the thread that runs the work.
     */
    private InFlightWaiter.Waiting waiting(Consumer<Supplier<ClaimResult>> ended) {
      return new InFlightWaiter.Waiting() {
        @Override
        public void found(ClaimResult result, Duration took) {
          ended.accept(
              () -> {
                claimTook = took;
                return result;
              });
        }

        @Override
        public void free() {
          ended.accept(Attempt.this::claim);
        }

        /** Ends the wait although the other run has not ended. */
        @Override
        public void over(ClaimResult.InFlight running) {
          ended.accept(
              () -> {
                endOfWait = Optional.of(System.nanoTime());
                return running;
              });
        }
      };
    }

    @Override
    public void refuse(Refusal refusal) throws WorkRefusedException {
      events.refused(refusal, met);
      throw new WorkRefusedException(refusal);
    }

    private WorkRefusedException inProgress(Claim claim) {
      return refused(Refusal.inProgress(engine.lease()), Optional.of(claim.operationId()), null);
    }

    private WorkRefusedException refused(
        Refusal refusal, Optional<UUID> operationId, @Nullable Throwable why) {
      events.refused(refusal, operationId, why);
      return new WorkRefusedException(refusal);
    }

    @Override
    public void replay(ClaimResult.Recorded recorded)
        throws WorkFailedException, WorkRefusedException {
      try {
        Replay.of(
                kind,
                request.key(),
                recorded,
                failure -> events.statusUnknown(recorded.operationId(), failure))
            .accept(new Reader(recorded));
      } catch (InvalidProtocolBufferException unreadable) {
        throw refused(recorded, Replay.unreadable(unreadable));
      } catch (WorkFailedException | WorkRefusedException said) {
        throw said;
      } catch (Exception impossible) {
        throw new AssertionError(impossible);
      }
    }

    private WorkRefusedException refused(ClaimResult.Recorded recorded, Replay.Refused refused) {
      return refused(
          refused.refusal(), Optional.of(recorded.operationId()), refused.why().orElse(null));
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
        events.replayed(recorded, claimTook);
        result =
            Optional.of(
                new WorkResult<>(
                    value,
                    true,
                    response.status(),
                    recorded.operationId(),
                    engine.retain(request, recorded, events),
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
        events.replayed(recorded, claimTook);
        Instant unused = engine.retain(request, recorded, events);
        throw new WorkFailedException(code, error.getMessage());
      }

      @Override
      public void refused(Replay.Refused refused) throws WorkRefusedException {
        throw Attempt.this.refused(recorded, refused);
      }
    }
  }

  /** The settings of an {@code IdempotentWork}. Not thread-safe. */
  public static final class Builder {
    private final IdempotencyStore store;
    private final Procedure[] kinds;
    private final List<IdempotencyListener> listeners = new ArrayList<>();
    private Optional<byte[]> keyHashSecret = Optional.empty();
    private ClaimTiming claimTiming = ClaimTiming.BEFORE_HANDLER;
    private WaitLimits waitLimits = WaitLimits.defaults();

    private Builder(IdempotencyStore store, Procedure... kinds) {
      this.store = store;
      this.kinds = kinds.clone();
    }

    /**
     * Adds a listener for events. Listeners are called in the order in which they were added. There
     * is none by default.
     */
    public Builder listener(IdempotencyListener listener) {
      this.listeners.add(listener);
      return this;
    }

    /**
     * Adds {@code key_hash} to the lines of the log {@code io.github.grpcidempotency.decision}, as
     * {@link io.github.grpcidempotency.grpc.IdempotencyInterceptor.Builder#keyHashSecret} does.
     *
     * @param secret at least 16 bytes
     * @throws IllegalArgumentException if the secret is shorter
     */
    public Builder keyHashSecret(byte[] secret) {
      this.keyHashSecret = Optional.of(DecisionLog.checkSecret(secret));
      return this;
    }

    /**
     * Sets when the tokens of transactional work are claimed, for procedures without a setting of
     * their own; before the work by default. If work is claimed with its first statement and the
     * claim is not won, the work is stopped at that statement, and its exception is dropped.
     */
    public Builder claimTiming(ClaimTiming timing) {
      this.claimTiming = timing;
      return this;
    }

    /**
     * Sets how much work may wait for running work, and the total size of its input; {@link
     * WaitLimits#defaults} by default.
     */
    public Builder waitLimits(WaitLimits limits) {
      this.waitLimits = limits;
      return this;
    }

    /**
     * Checks the procedures and the store, and returns the {@code IdempotentWork}. Close it when
     * the last work has ended.
     *
     * @throws io.github.grpcidempotency.procedure.SetupException if anything is wrong; it lists
     *     every problem
     * @throws io.github.grpcidempotency.store.StoreException if the store cannot be reached
     */
    public IdempotentWork build() {
      Setup.check(Procedures.of(kinds), Optional.of(store), claimTiming);
      IdempotentWork work = new IdempotentWork(this);
      work.engines.start();
      return work;
    }
  }
}
