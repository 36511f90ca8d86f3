package io.github.grpcidempotency.client;

import com.google.longrunning.OperationsGrpc;
import com.google.longrunning.WaitOperationRequest;
import com.google.protobuf.Duration;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** Watches the calls of {@code WaitOperation} on their way to a server, and disturbs them. */
final class Waits implements ServerInterceptor {
  /** One wait as it came. */
  record Wait(Metadata headers, WaitOperationRequest request, java.time.Duration deadline) {}

  private final List<Wait> seen = new CopyOnWriteArrayList<>();
  private final ConcurrentLinkedQueue<StatusRuntimeException> errors =
      new ConcurrentLinkedQueue<>();
  private final AtomicInteger running = new AtomicInteger();
  private volatile boolean patient = true;

  /** Answers the next waits so. */
  void failing(StatusRuntimeException... next) {
    errors.addAll(List.of(next));
  }

  /** Lets the server answer waits at once, from now on. */
  void withoutPatience() {
    patient = false;
  }

  /** Returns the waits that have reached the server. */
  List<Wait> seen() {
    return List.copyOf(seen);
  }

  /** Returns how many waits are served at the moment. */
  int running() {
    return running.get();
  }

  void reset() {
    seen.clear();
    errors.clear();
    patient = true;
  }

  @Override
  public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
      ServerCall<RequestT, ResponseT> call,
      Metadata headers,
      ServerCallHandler<RequestT, ResponseT> next) {
    String method = call.getMethodDescriptor().getFullMethodName();
    if (!method.equals(OperationsGrpc.getWaitOperationMethod().getFullMethodName())) {
      return next.startCall(call, headers);
    }
    StatusRuntimeException error = errors.poll();
    if (error != null) {
      call.close(
          error.getStatus(), Optional.ofNullable(error.getTrailers()).orElseGet(Metadata::new));
      return new ServerCall.Listener<>() {};
    }
    running.incrementAndGet();
    AtomicBoolean ended = new AtomicBoolean();
    Runnable end =
        () -> {
          if (ended.compareAndSet(false, true)) {
            running.decrementAndGet();
          }
        };
    ServerCall<RequestT, ResponseT> watched =
        new SimpleForwardingServerCall<>(call) {
          @Override
          public void close(Status status, Metadata trailers) {
            end.run();
            super.close(status, trailers);
          }
        };
    return new SimpleForwardingServerCallListener<>(next.startCall(watched, headers)) {
      @Override
      @SuppressWarnings("unchecked") // the type of the method's requests
      public void onMessage(RequestT message) {
        WaitOperationRequest request = (WaitOperationRequest) message;
        Deadline deadline = Optional.ofNullable(Context.current().getDeadline()).orElseThrow();
        seen.add(
            new Wait(
                headers,
                request,
                java.time.Duration.ofMillis(deadline.timeRemaining(TimeUnit.MILLISECONDS))));
        super.onMessage(
            patient
                ? message
                : (RequestT) request.toBuilder().setTimeout(Duration.getDefaultInstance()).build());
      }

      @Override
      public void onCancel() {
        end.run();
        super.onCancel();
      }
    };
  }
}
