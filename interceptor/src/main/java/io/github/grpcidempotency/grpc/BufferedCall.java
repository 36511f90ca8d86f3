package io.github.grpcidempotency.grpc;

import com.google.common.util.concurrent.MoreExecutors;
import io.github.grpcidempotency.internal.context.OperationContext;
import io.github.grpcidempotency.internal.event.CallEvents;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import java.util.Optional;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A unary call that buffers its request and starts its handler once the request is complete. gRPC
 * itself answers a call that breaks the unary protocol (no message, or two).
 *
 * <p>gRPC calls a listener's methods one at a time. A call that is resumed on another thread keeps
 * that order: from then on all events go through one sequence.
 */
abstract class BufferedCall<RequestT, ResponseT> extends ServerCall.Listener<RequestT> {
  private static final Logger logger = LoggerFactory.getLogger(IdempotencyInterceptor.class);

  private final ServerCall<RequestT, ResponseT> call;
  private Metadata headers;
  private final ServerCallHandler<RequestT, ResponseT> next;
  private final CallEvents heard;
  private final Context context = Context.current();

  private Executor events = MoreExecutors.directExecutor();
  private boolean moved;
  private Optional<Metadata> kept = Optional.empty();
  private @Nullable RequestT request;
  private ServerCall.@Nullable Listener<RequestT> handler;
  private boolean ready;

  BufferedCall(
      ServerCall<RequestT, ResponseT> call,
      Metadata headers,
      ServerCallHandler<RequestT, ResponseT> next,
      CallEvents heard) {
    this.call = call;
    this.headers = headers;
    this.next = next;
    this.heard = heard;
  }

  /** Serves the call, now that its request is complete. */
  abstract void serve(RequestT message);

  /** The call ended before its handler was started. */
  abstract void cancelledEarly();

  /** The call has ended: it was answered, or cancelled. */
  abstract void ended();

  /** Asks for two messages, to catch an illegal second one. */
  final ServerCall.Listener<RequestT> start() {
    call.request(2);
    return this;
  }

  final ServerCall<RequestT, ResponseT> call() {
    return call;
  }

  final Metadata headers() {
    return headers;
  }

  final Context context() {
    return context;
  }

  /**
   * Moves the rest of the call to another executor, still one event at a time, and within the scope
   * in which it arrived. A call moves only once, because two sequential executors would not wait
   * for each other.
   */
  final Executor moveTo(Executor executor) {
    if (!moved) {
      moved = true;
      Executor sequence = MoreExecutors.newSequentialExecutor(executor);
      events = event -> sequence.execute(() -> heard.within(event));
    }
    return events;
  }

  /** Starts the handler, and gives it the request. */
  final void run(Context handlerContext, ServerCall<RequestT, ResponseT> target, RequestT message) {
    Context guarded = OperationContext.guarded(handlerContext);
    Context before = guarded.attach();
    try {
      ServerCall.Listener<RequestT> started = next.startCall(target, headers);
      handler = started;
      if (ready) {
        started.onReady();
      }
      started.onMessage(message);
      started.onHalfClose();
    } finally {
      guarded.detach(before);
    }
  }

  /** Keeps the headers as they came, for a handler that may have to be started after another. */
  final void keepHeaders() {
    Metadata copy = new Metadata();
    copy.merge(headers);
    kept = Optional.of(copy);
  }

  /**
   * The handler that was started has run in vain: tells it that its call was cancelled. It hears
   * nothing more, and another one may be started.
   */
  final void stopHandler() {
    Optional<ServerCall.Listener<RequestT>> stopped = handler();
    handler = null;
    headers = kept.orElse(headers);
    try {
      stopped.ifPresent(ServerCall.Listener::onCancel);
    } catch (RuntimeException thrown) {
      logger.debug("a handler threw when its call was cancelled", thrown);
    }
  }

  @Override
  public final void onMessage(RequestT message) {
    if (request == null) {
      request = message;
    } else {
      leaveToGrpc().onMessage(message);
    }
  }

  @Override
  public final void onHalfClose() {
    if (request != null && handler == null) {
      serve(request);
    } else {
      leaveToGrpc().onHalfClose();
    }
  }

  @Override
  public final void onReady() {
    events.execute(
        () -> {
          ready = true;
          handler().ifPresent(ServerCall.Listener::onReady);
        });
  }

  @Override
  public final void onCancel() {
    ended();
    events.execute(
        () -> handler().ifPresentOrElse(ServerCall.Listener::onCancel, this::cancelledEarly));
  }

  @Override
  public final void onComplete() {
    ended();
    events.execute(() -> handler().ifPresent(ServerCall.Listener::onComplete));
  }

  /** Starts the handler without a claim, for a call that breaks the unary protocol. */
  private ServerCall.Listener<RequestT> leaveToGrpc() {
    ServerCall.Listener<RequestT> started = handler;
    if (started == null) {
      started = next.startCall(new PrefetchedCall<>(call), headers);
      handler = started;
      if (request != null) {
        started.onMessage(request);
      }
    }
    return started;
  }

  private Optional<ServerCall.Listener<RequestT>> handler() {
    return Optional.ofNullable(handler);
  }
}
