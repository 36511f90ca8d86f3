package io.github.grpcidempotency.client;

import io.grpc.Attributes;
import io.grpc.ClientStreamTracer;
import io.grpc.Metadata;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the streams of a call. A stream is created only on an open connection, so zero proves that
 * the call has not left this process.
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
