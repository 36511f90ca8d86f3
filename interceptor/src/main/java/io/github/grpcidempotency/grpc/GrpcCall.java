package io.github.grpcidempotency.grpc;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import com.google.rpc.Code;
import io.github.grpcidempotency.background.RateLimitedLog;
import io.github.grpcidempotency.call.internal.Answer;
import io.github.grpcidempotency.call.internal.ErrorAnswer;
import io.github.grpcidempotency.call.internal.KeyedCall;
import io.github.grpcidempotency.call.internal.Run;
import io.github.grpcidempotency.call.internal.Transport;
import io.github.grpcidempotency.call.internal.UnkeyedRun;
import io.github.grpcidempotency.grpc.internal.TerminalError;
import io.github.grpcidempotency.internal.context.OperationContext;
import io.github.grpcidempotency.internal.decision.KeyDecision;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.engine.Engine;
import io.github.grpcidempotency.internal.engine.Engines;
import io.github.grpcidempotency.internal.event.CallEvents;
import io.github.grpcidempotency.internal.record.KeyedRequest;
import io.github.grpcidempotency.internal.record.Replay;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.store.TransactionMisuseException;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.KnownLength;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.Status;
import io.grpc.SynchronizationContext;
import java.io.FilterInputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A unary gRPC call that buffers its request, and starts its handler once the request is complete.
 * {@link KeyedCall} serves a call with a key. gRPC itself answers a call that violates the unary
 * protocol (no message, or two).
 *
 * <p>The events of gRPC and the steps of a call run one at a time: now, or on the thread whose
 * event or step is under way.
 */
final class GrpcCall<RequestT, ResponseT> extends ServerCall.Listener<RequestT>
    implements Transport {
  private static final Logger logger = LoggerFactory.getLogger(IdempotencyInterceptor.class);
  private static final RateLimitedLog log = RateLimitedLog.of(logger);

  private final Engines engines;
  private final Procedure procedure;
  private final Function<Message, KeyDecision> keyOf;
  private final Optional<Caller> caller;
  private final Optional<Engine> engine;
  private final CallEvents events;
  private final RefusableCall<RequestT, ResponseT> call;
  private final Metadata headers;
  private final ServerCallHandler<RequestT, ResponseT> next;
  private final Context context = Context.current();

  private final SynchronizationContext order =
      new SynchronizationContext((thread, thrown) -> failed(thrown));
  private volatile Optional<KeyedCall> keyed = Optional.empty();
  private Optional<RequestT> request = Optional.empty();
  private Optional<ServerCall.Listener<RequestT>> handler = Optional.empty();
  private boolean ready;

  /** Whether the call has gone on, or will, on another thread than gRPC's. */
  private volatile boolean resumed;

  GrpcCall(
      Engines engines,
      Procedure procedure,
      Function<Message, KeyDecision> keyOf,
      Optional<Caller> caller,
      Optional<Engine> engine,
      CallEvents events,
      ServerCall<RequestT, ResponseT> call,
      Metadata headers,
      ServerCallHandler<RequestT, ResponseT> next) {
    this.engines = engines;
    this.procedure = procedure;
    this.keyOf = keyOf;
    this.caller = caller;
    this.engine = engine;
    this.events = events;
    this.call = new RefusableCall<>(call);
    this.headers = headers;
    this.next = next;
  }

  /** Requests two messages, to detect a second message, which is illegal. */
  ServerCall.Listener<RequestT> start() {
    call.request(2);
    return this;
  }

  @Override
  public void onMessage(RequestT message) {
    inOrder(() -> received(message));
  }

  private void received(RequestT message) {
    if (request.isEmpty()) {
      request = Optional.of(message);
    } else {
      leaveToGrpc().onMessage(message);
    }
  }

  @Override
  public void onHalfClose() {
    inOrder(this::requestEnded);
  }

  private void requestEnded() {
    if (request.isPresent() && handler.isEmpty()) {
      Message complete = (Message) request.get();
      context.run(() -> serve(complete));
    } else {
      leaveToGrpc().onHalfClose();
    }
  }

  private void serve(Message message) {
    KeyDecision decision = keyOf.apply(message);
    if (decision instanceof KeyDecision.Keyed found) {
      serve(found.key(), found.keyName(), message);
    } else if (decision instanceof KeyDecision.Refuse refused) {
      refuse(events, refused.refusal(), refused.keyName());
    } else if (procedure.execution() == Execution.TRANSACTIONAL) {
      UnkeyedRun.start(this, engine, procedure, caller);
    } else {
      runHandler(new PrefetchedCall<>(call), headers);
    }
  }

  private void serve(IdempotencyKey key, String keyName, Message message) {
    Optional<Caller> owner = Optional.of(key.caller());
    Optional<Engine> own = caller.equals(owner) ? engine : engines.of(owner);
    CallEvents found = events.of(key, keyName).onShard(own.flatMap(Engine::shard));
    if (own.isEmpty()) {
      found.keyFound();
      refuse(found, Refusal.noShard(), keyName);
      return;
    }
    KeyedCall keyedCall =
        new KeyedCall(
            this,
            own.get(),
            engines.drain(),
            found,
            KeyedRequest.of(
                key, procedure, message, found.trace(), RequestHeaders.hintAtRetry(headers)),
            keyName);
    keyed = Optional.of(keyedCall);
    keyedCall.start();
  }

  private void refuse(CallEvents about, Refusal refusal, String keyName) {
    about.refused(refusal, Optional.empty(), null);
    refuse(refusal, keyName);
  }

  @Override
  public void onReady() {
    inOrder(
        () -> {
          ready = true;
          handler.ifPresent(ServerCall.Listener::onReady);
        });
  }

  @Override
  public void onCancel() {
    keyed.ifPresent(KeyedCall::ended);
    inOrder(
        () ->
            handler.ifPresentOrElse(
                ServerCall.Listener::onCancel, () -> keyed.ifPresent(KeyedCall::cancel)));
  }

  @Override
  public void onComplete() {
    keyed.ifPresent(KeyedCall::ended);
    inOrder(() -> handler.ifPresent(ServerCall.Listener::onComplete));
  }

  /** Starts the handler without a claim for a call that violates the unary protocol. */
  private ServerCall.Listener<RequestT> leaveToGrpc() {
    if (handler.isPresent()) {
      return handler.get();
    }
    ServerCall.Listener<RequestT> started = next.startCall(new PrefetchedCall<>(call), headers);
    handler = Optional.of(started);
    request.ifPresent(started::onMessage);
    return started;
  }

  @Override
  public void runHandler(Run run) {
    run.context()
        .run(
            () ->
                runHandler(
                    new HandlerCall<>(call, run, procedure.failurePolicy()), copyOf(headers)));
  }

  @Override
  public void runUnprotected(OperationContext unprotected) {
    unprotected.run(() -> runHandler(new PrefetchedCall<>(call), headers));
  }

  private void runHandler(ServerCall<RequestT, ResponseT> target, Metadata sent) {
    Context intercepted = OperationContext.intercepted();
    Context before = intercepted.attach();
    try {
      ServerCall.Listener<RequestT> started = next.startCall(target, sent);
      handler = Optional.of(started);
      if (ready) {
        started.onReady();
      }
      request.ifPresent(started::onMessage);
      started.onHalfClose();
    } finally {
      intercepted.detach(before);
    }
  }

  /** The handler may have to be started a second time. */
  private static Metadata copyOf(Metadata headers) {
    Metadata copy = new Metadata();
    copy.merge(headers);
    return copy;
  }

  @Override
  public void stopHandler() {
    Optional<ServerCall.Listener<RequestT>> stopped = handler;
    handler = Optional.empty();
    try {
      stopped.ifPresent(ServerCall.Listener::onCancel);
    } catch (Throwable thrown) {
      logger.debug("a handler threw when its call was cancelled", thrown);
    }
  }

  @Override
  public Answer answerOf(Throwable thrown) {
    return new ErrorAnswer(Code.UNKNOWN, "", () -> GrpcCall.<RuntimeException>rethrow(thrown));
  }

  @SuppressWarnings("unchecked") // the handler has thrown it, declared or not
  private static <X extends Throwable> void rethrow(Throwable thrown) throws X {
    throw (X) thrown;
  }

  @Override
  public Optional<Duration> timeLeft() {
    return Optional.ofNullable(context.getDeadline())
        .map(end -> Duration.ofMillis(end.timeRemaining(TimeUnit.MILLISECONDS)));
  }

  @Override
  public OutagePolicy outagePolicy() {
    return RequestHeaders.outagePolicy(procedure, headers);
  }

  @Override
  public boolean isGone() {
    return context.isCancelled();
  }

  @Override
  public boolean callerRunsHandler() {
    return false;
  }

  @Override
  public Executor resumption() {
    resumed = true;
    return step ->
        engines
            .executor()
            .execute(() -> order.execute(() -> events.within(() -> context.run(step))));
  }

  /**
   * Runs an event of gRPC in its order. If the event runs at once, gRPC gets what it throws, like
   * the interceptors between gRPC and this call.
   */
  private void inOrder(Runnable event) {
    Thread caller = Thread.currentThread();
    AtomicBoolean waiting = new AtomicBoolean(true);
    AtomicReference<@Nullable Throwable> thrown = new AtomicReference<>();
    order.execute(
        () -> {
          if (Thread.currentThread() != caller || !waiting.get()) {
            events.within(event); // later: nobody waits for what it throws
            return;
          }
          try {
            if (resumed) {
              events.within(event);
            } else {
              event.run();
            }
          } catch (Throwable failure) {
            thrown.set(failure);
          }
        });
    waiting.set(false);
    Throwable failure = thrown.get();
    if (failure != null) {
      rethrow(failure);
    }
  }

  /**
   * Closes the call of a handler that has thrown, because gRPC does so only for its own events.
   * Never throws, because {@link #order} would then run nothing any more.
   */
  private void failed(Throwable thrown) {
    try {
      closeUnlessAnswered(
          Status.UNKNOWN.withDescription("Application error processing RPC").withCause(thrown));
      logger.error("{}: the handler failed", procedure.name(), thrown);
    } catch (Throwable unclosed) {
      unclosed.addSuppressed(thrown);
      log.error(
          procedure.name(), unclosed, procedure.name() + ": a failed call could not be closed");
    }
  }

  @Override
  public void cancelled() {
    closeUnlessAnswered(Contexts.statusFromCancelled(context));
  }

  private void closeUnlessAnswered(@Nullable Status status) {
    try {
      call.close(status == null ? Status.CANCELLED : status, new Metadata());
    } catch (IllegalStateException answered) {
      logger.debug("{}: the call was already answered", procedure.name(), answered);
    }
  }

  @Override
  public Consumer<Instant> read(Replay.Response replay, UUID operationId) {
    ResponseT message = call.getMethodDescriptor().parseResponse(new KnownBytes(replay.bytes()));
    return expires -> ResponseWriter.replay(call, message, replay, operationId, expires);
  }

  @Override
  public Consumer<Instant> readError(ByteString bytes, UUID operationId) {
    TerminalError error = TerminalError.of(bytes);
    return expires -> ResponseWriter.replay(call, error, operationId);
  }

  @Override
  public void refuse(Refusal refusal, String keyName) {
    ResponseWriter.refuse(call, refusal, keyName);
  }

  @Override
  public void fail(Code code, String message) {
    call.close(Status.fromCodeValue(code.getNumber()).withDescription(message), new Metadata());
  }

  @Override
  public void misused(TransactionMisuseException misuse) {
    fail(Code.INTERNAL, String.valueOf(misuse.getMessage()));
  }

  @Override
  public void cutOff(Refusal refusal, String keyName, Runnable first) {
    call.refuse(refusal, keyName, first);
  }

  @Override
  public boolean keep() {
    return call.keep();
  }

  /** A call whose messages were already requested. */
  private static final class PrefetchedCall<RequestT, ResponseT>
      extends SimpleForwardingServerCall<RequestT, ResponseT> {
    PrefetchedCall(ServerCall<RequestT, ResponseT> call) {
      super(call);
    }

    @Override
    public void request(int numMessages) {}
  }

  /**
   * Reports its length to gRPC, which otherwise allocates a buffer of four kilobytes for each read.
   */
  private static final class KnownBytes extends FilterInputStream implements KnownLength {
    KnownBytes(ByteString bytes) {
      super(bytes.newInput());
    }
  }

  /**
   * A call that another thread may refuse until its answer is sent. If the handler answers after
   * the refusal, the answer is dropped without an error. {@link #refuse} is thread-safe; the other
   * methods are not, as in every {@code ServerCall}.
   */
  private static final class RefusableCall<RequestT, ResponseT>
      extends SimpleForwardingServerCall<RequestT, ResponseT> {
    private final AtomicReference<State> state = new AtomicReference<>(State.OPEN);

    private enum State {
      OPEN,
      ANSWERED,
      REFUSED
    }

    RefusableCall(ServerCall<RequestT, ResponseT> call) {
      super(call);
    }

    /**
     * Refuses the call, unless its answer is already being sent.
     *
     * @param first runs before the error is sent
     */
    void refuse(Refusal refusal, String keyName, Runnable first) {
      if (state.compareAndSet(State.OPEN, State.REFUSED)) {
        first.run();
        ResponseWriter.refuse(delegate(), refusal, keyName);
      }
    }

    /** Prevents a refusal from now on. Returns false if the call has already been refused. */
    boolean keep() {
      return state.compareAndSet(State.OPEN, State.ANSWERED) || state.get() == State.ANSWERED;
    }

    @Override
    public void sendHeaders(Metadata headers) {
      if (keep()) {
        super.sendHeaders(headers);
      }
    }

    @Override
    public void sendMessage(ResponseT message) {
      if (keep()) {
        super.sendMessage(message);
      }
    }

    @Override
    public void close(Status status, Metadata trailers) {
      if (keep()) {
        super.close(status, trailers);
      }
    }
  }
}
