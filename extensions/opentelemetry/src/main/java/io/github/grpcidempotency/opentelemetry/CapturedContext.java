package io.github.grpcidempotency.opentelemetry;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.event.CallScope;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import java.util.Optional;

/**
 * The context that was current when a call arrived. It is made current wherever the call continues.
 */
record CapturedContext(Context context) implements CallScope {
  @Override
  public void run(Runnable action) {
    context.wrap(action).run();
  }

  @Override
  public Optional<ByteString> trace() {
    return TraceBytes.of(Span.fromContext(context).getSpanContext());
  }
}
