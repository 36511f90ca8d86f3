package io.github.grpcidempotency.grpc;

import io.github.grpcidempotency.internal.decision.Refusal;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A call that another thread may refuse until its answer is sent. If the handler answers after the
 * refusal, the answer is dropped without an error. {@link #refuse} is thread-safe; the other
 * methods are not, as in every {@code ServerCall}.
 */
final class RefusableCall<RequestT, ResponseT>
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
