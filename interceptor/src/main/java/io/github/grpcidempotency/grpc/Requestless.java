package io.github.grpcidempotency.grpc;

import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ServerCall;

/** A call whose messages were already asked for. */
final class Requestless<RequestT, ResponseT>
    extends SimpleForwardingServerCall<RequestT, ResponseT> {
  Requestless(ServerCall<RequestT, ResponseT> call) {
    super(call);
  }

  @Override
  public void request(int numMessages) {}
}
