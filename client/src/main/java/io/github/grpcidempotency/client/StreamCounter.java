package io.github.grpcidempotency.client;

import io.grpc.Attributes;
import io.grpc.ClientStreamTracer;
import io.grpc.Metadata;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the streams that were created on a connection that is up. Nothing is sent without one:
 * none is proof that a call has not left this process.
 */
final class StreamCounter extends ClientStreamTracer.Factory {
  private final AtomicInteger created = new AtomicInteger();

  int count() {
    return created.get();
  }

  @Override
  public ClientStreamTracer newClientStreamTracer(
      ClientStreamTracer.StreamInfo info, Metadata headers) {
    return new ClientStreamTracer() {
      @Override
      public void streamCreated(Attributes transport, Metadata sent) {
        created.incrementAndGet();
      }
    };
  }
}
