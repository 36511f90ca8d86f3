package io.github.grpcidempotency.grpc;

import com.google.protobuf.MessageLite;
import io.github.grpcidempotency.decision.ClaimDecider;
import io.github.grpcidempotency.decision.Decision;
import io.github.grpcidempotency.decision.Refusal;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One keyed call's journey:
 *
 * <ol>
 *   <li>Buffer the request until the client has half-closed. A protocol violation (no message, or
 *       two) is left to gRPC itself to answer.
 *   <li>Take the request's fingerprint and claim the key.
 *   <li>Decide, and then execute the handler and settle ({@link ClaimedCall}), or replay, or
 *       refuse.
 * </ol>
 *
 * <p>gRPC calls a listener's methods one at a time; fields need no further care.
 */
final class IdempotentCall<RequestT, ResponseT> extends ServerCall.Listener<RequestT> {
  private static final Logger logger = LoggerFactory.getLogger(IdempotencyInterceptor.class);

  private final Engine engine;
  private final Procedure procedure;
  private final IdempotencyKey key;
  private final ServerCall<RequestT, ResponseT> call;
  private final Metadata headers;
  private final ServerCallHandler<RequestT, ResponseT> next;
  private final Context context = Context.current();

  private @Nullable RequestT request;
  private ServerCall.@Nullable Listener<RequestT> handler;
  private boolean ready;

  IdempotentCall(
      Engine engine,
      Procedure procedure,
      IdempotencyKey key,
      ServerCall<RequestT, ResponseT> call,
      Metadata headers,
      ServerCallHandler<RequestT, ResponseT> next) {
    this.engine = engine;
    this.procedure = procedure;
    this.key = key;
    this.call = call;
    this.headers = headers;
    this.next = next;
  }

  /** Asks for the request: for two messages, to catch an illegal second one. */
  ServerCall.Listener<RequestT> start() {
    call.request(2);
    return this;
  }

  @Override
  public void onMessage(RequestT message) {
    if (request == null) {
      request = message;
    } else {
      leaveToGrpc().onMessage(message);
    }
  }

  @Override
  public void onHalfClose() {
    if (request != null && handler == null) {
      serve(request);
    } else {
      leaveToGrpc().onHalfClose();
    }
  }

  @Override
  public void onReady() {
    ready = true;
    handler().ifPresent(ServerCall.Listener::onReady);
  }

  @Override
  public void onCancel() {
    handler().ifPresent(ServerCall.Listener::onCancel);
  }

  @Override
  public void onComplete() {
    handler().ifPresent(ServerCall.Listener::onComplete);
  }

  private void serve(RequestT message) {
    Fingerprint fingerprint = Fingerprinter.fingerprint((MessageLite) message);
    ClaimResult result = engine.claim(new ClaimRequest(key, procedure, fingerprint));
    Decision decision =
        ClaimDecider.decide(
            result.standing(), procedure.name(), fingerprint, procedure.outagePolicy());
    if (decision instanceof Decision.Execute) {
      execute(((ClaimResult.Won) result).claim(), message);
    } else if (decision instanceof Decision.Replay) {
      replay((ClaimResult.Recorded) result);
    } else if (decision instanceof Decision.Refuse refuse) {
      refuse(refuse.refusal());
    } else if (decision instanceof Decision.ExecuteUnguarded) {
      executeUnguarded((ClaimResult.Unanswered) result, message);
    }
  }

  private void execute(Claim claim, RequestT message) {
    ClaimedCall<RequestT, ResponseT> claimed = new ClaimedCall<>(engine, claim, call);
    try {
      run(claimed.start(), message);
    } catch (Throwable thrown) {
      claimed.handlerThrew();
      throw thrown;
    }
  }

  private void replay(ClaimResult.Recorded recorded) {
    engine.tell(events -> events.replayed(procedure.name(), recorded.operationId()));
    Answering.replay(call, recorded);
  }

  private void refuse(Refusal refusal) {
    engine.tell(events -> events.refused(procedure.name(), refusal.reason()));
    Answering.refuse(call, refusal, engine.keyName());
  }

  private void executeUnguarded(ClaimResult.Unanswered unanswered, RequestT message) {
    logger.warn(
        "the idempotency store is out of reach; {} fails open and runs without idempotency",
        procedure.name(),
        unanswered.cause());
    engine.tell(events -> events.ranUnguarded(procedure.name(), unanswered.cause()));
    run(new Requestless<>(call), message);
  }

  /** Starts the handler without a claim, for a call that breaks the unary protocol. */
  private ServerCall.Listener<RequestT> leaveToGrpc() {
    if (handler == null) {
      handler = next.startCall(new Requestless<>(call), headers);
      if (request != null) {
        handler.onMessage(request);
      }
    }
    return handler;
  }

  private void run(ServerCall<RequestT, ResponseT> target, RequestT message) {
    Context before = context.attach();
    try {
      ServerCall.Listener<RequestT> started = next.startCall(target, headers);
      handler = started;
      if (ready) {
        started.onReady();
      }
      started.onMessage(message);
      started.onHalfClose();
    } finally {
      context.detach(before);
    }
  }

  private Optional<ServerCall.Listener<RequestT>> handler() {
    return Optional.ofNullable(handler);
  }
}
