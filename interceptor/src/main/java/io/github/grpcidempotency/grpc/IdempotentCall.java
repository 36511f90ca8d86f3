package io.github.grpcidempotency.grpc;

import com.google.protobuf.MessageLite;
import io.github.grpcidempotency.decision.ClaimDecider;
import io.github.grpcidempotency.decision.Decision;
import io.github.grpcidempotency.decision.Refusal;
import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.runtime.InFlightWaiter;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.Status;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One keyed call's journey:
 *
 * <ol>
 *   <li>The request is buffered until the client has half-closed ({@link BufferedCall}).
 *   <li>Take its fingerprint and claim the key.
 *   <li>Decide, and then execute the handler and settle ({@link ClaimedCall}), or replay, or wait
 *       for the call that holds the key and decide again, or refuse.
 * </ol>
 */
final class IdempotentCall<RequestT, ResponseT> extends BufferedCall<RequestT, ResponseT> {
  private static final Logger logger = LoggerFactory.getLogger(IdempotencyInterceptor.class);

  private final Engine engine;
  private final Procedure procedure;
  private final IdempotencyKey key;
  private Optional<InFlightWaiter.Waiter> waiter = Optional.empty();
  private Optional<Deadline> endOfWait = Optional.empty();

  IdempotentCall(
      Engine engine,
      Procedure procedure,
      IdempotencyKey key,
      ServerCall<RequestT, ResponseT> call,
      Metadata headers,
      ServerCallHandler<RequestT, ResponseT> next) {
    super(call, headers, next);
    this.engine = engine;
    this.procedure = procedure;
    this.key = key;
  }

  @Override
  void serve(RequestT message) {
    ClaimRequest wish =
        new ClaimRequest(key, procedure, Fingerprinter.fingerprint((MessageLite) message));
    act(wish, engine.claim(wish), message);
  }

  @Override
  void cancelledEarly() {
    waiter.ifPresent(InFlightWaiter.Waiter::cancel);
  }

  private void act(ClaimRequest wish, ClaimResult result, RequestT message) {
    Decision decision =
        ClaimDecider.decide(result.standing(), procedure, wish.fingerprint(), timeLeft());
    if (decision instanceof Decision.Execute) {
      execute(((ClaimResult.Won) result).claim(), message);
    } else if (decision instanceof Decision.Replay) {
      replay((ClaimResult.Recorded) result);
    } else if (decision instanceof Decision.Attach attach) {
      attach(wish, (ClaimResult.InFlight) result, attach.limit(), message);
    } else if (decision instanceof Decision.Refuse refuse) {
      refuse(refuse.refusal());
    } else if (decision instanceof Decision.ExecuteUnguarded) {
      executeUnguarded((ClaimResult.Unanswered) result, message);
    }
  }

  private void execute(Claim claim, RequestT message) {
    ClaimedCall<RequestT, ResponseT> claimed = new ClaimedCall<>(engine, claim, call());
    try {
      run(CurrentCall.of(context(), claim), claimed.start(), message);
    } catch (Throwable thrown) {
      claimed.handlerThrew();
      throw thrown;
    }
  }

  private void replay(ClaimResult.Recorded recorded) {
    engine.tell(events -> events.replayed(procedure.name(), recorded.operationId()));
    Answering.replay(call(), recorded);
  }

  private void attach(
      ClaimRequest wish, ClaimResult.InFlight met, Duration limit, RequestT message) {
    if (endOfWait.isEmpty()) {
      endOfWait = Optional.of(Deadline.after(limit.toMillis(), TimeUnit.MILLISECONDS));
      engine.tell(events -> events.attached(procedure.name()));
    }
    Executor events = moveTo(engine.executor());
    waiter =
        Optional.of(
            engine
                .waiter()
                .await(
                    wish,
                    met,
                    limit,
                    result -> events.execute(() -> resume(wish, result, message))));
  }

  /** Outside gRPC's own executor nobody answers for an exception, so it is answered here. */
  private void resume(ClaimRequest wish, ClaimResult result, RequestT message) {
    waiter = Optional.empty();
    try {
      act(wish, result, message);
    } catch (Throwable thrown) {
      logger.error("{}: the handler failed", procedure.name(), thrown);
      closeUnlessAnswered(
          Status.UNKNOWN.withDescription("Application error processing RPC").withCause(thrown));
    }
  }

  private void closeUnlessAnswered(Status status) {
    try {
      call().close(status, new Metadata());
    } catch (IllegalStateException answered) {
      logger.debug("{}: the call had been answered before", procedure.name(), answered);
    }
  }

  private void refuse(Refusal refusal) {
    engine.tell(events -> events.refused(procedure.name(), refusal.reason()));
    Answering.refuse(call(), refusal, engine.keyName());
  }

  private void executeUnguarded(ClaimResult.Unanswered unanswered, RequestT message) {
    logger.warn(
        "the idempotency store is out of reach; {} fails open and runs without idempotency",
        procedure.name(),
        unanswered.cause());
    engine.tell(events -> events.ranUnguarded(procedure.name(), unanswered.cause()));
    run(context(), new Requestless<>(call()), message);
  }

  private Duration timeLeft() {
    Duration ofCall = left(Optional.ofNullable(context().getDeadline()));
    Duration ofWait = left(endOfWait);
    return ofCall.compareTo(ofWait) < 0 ? ofCall : ofWait;
  }

  private static Duration left(Optional<Deadline> deadline) {
    return deadline
        .map(end -> Duration.ofMillis(end.timeRemaining(TimeUnit.MILLISECONDS)))
        .orElse(Duration.ofDays(1));
  }
}
