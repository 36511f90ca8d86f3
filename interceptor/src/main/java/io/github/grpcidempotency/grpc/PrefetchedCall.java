package io.github.grpcidempotency.grpc;

import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ServerCall;

/** A call whose messages were already requested. */
final class PrefetchedCall<RequestT, ResponseT>
    extends SimpleForwardingServerCall<RequestT, ResponseT> {
  PrefetchedCall(ServerCall<RequestT, ResponseT> call) {
    super(call);
  }

  @Override
  public void request(int numMessages) {}
}
