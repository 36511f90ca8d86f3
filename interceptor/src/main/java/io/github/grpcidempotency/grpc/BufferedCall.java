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
 * itself answers a call that violates the unary protocol (no message, or two).
 *
 * <p>gRPC calls a listener's methods one at a time. If a call is resumed on another thread, a
 * sequential executor keeps that order.
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

  /** Serves the call after its request is complete. */
  abstract void serve(RequestT message);

  /** Called if the call ends before its handler is started. */
  abstract void cancelledEarly();

  /** Called when the call has been answered or cancelled. */
  abstract void ended();

  /** Requests two messages, to detect a second message, which is illegal. */
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
   * Moves the rest of the call to another executor. The call still handles one event at a time,
   * within the scope in which it arrived. A call moves only once, because two sequential executors
   * would not wait for each other.
   */
  final Executor moveTo(Executor executor) {
    if (!moved) {
      moved = true;
      Executor sequence = MoreExecutors.newSequentialExecutor(executor);
      events = event -> sequence.execute(() -> heard.within(event));
    }
    return events;
  }

  /** Starts the handler and passes the request to it. */
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

  /** Keeps a copy of the headers, because the handler may have to be started a second time. */
  final void keepHeaders() {
    Metadata copy = new Metadata();
    copy.merge(headers);
    kept = Optional.of(copy);
  }

  /**
   * Reports to the started handler that its call was cancelled. The handler gets no further events,
   * and can be started again.
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

  /** Starts the handler without a claim for a call that violates the unary protocol. */
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
