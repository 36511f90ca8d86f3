package io.github.grpcidempotency.opentelemetry;

import com.google.protobuf.ByteString;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Optional;

/**
 * The context of a span as it is recorded: the content of W3C's {@code traceparent} in 26 bytes.
 * Version 0; trace id, 16 bytes; span id, 8 bytes; flags.
 */
final class TraceBytes {
  private static final byte VERSION = 0;
  private static final int TRACE_ID = 16;
  private static final int SPAN_ID = 8;
  private static final int SIZE = 1 + TRACE_ID + SPAN_ID + 1;

  private TraceBytes() {}

  /** Returns the bytes of a span's context; empty if it is not valid. */
  static Optional<ByteString> of(SpanContext span) {
    if (!span.isValid()) {
      return Optional.empty();
    }
    ByteBuffer bytes =
        ByteBuffer.allocate(SIZE)
            .put(VERSION)
            .put(span.getTraceIdBytes())
            .put(span.getSpanIdBytes())
            .put(span.getTraceFlags().asByte())
            .flip();
    return Optional.of(ByteString.copyFrom(bytes));
  }

  /** Returns the recorded context; empty if there is none, or if its format is unknown. */
  static Optional<SpanContext> read(ByteString bytes) {
    if (bytes.size() != SIZE || bytes.byteAt(0) != VERSION) {
      return Optional.empty();
    }
    String hex = hex(bytes.substring(1, SIZE - 1));
    return Optional.of(
            SpanContext.createFromRemoteParent(
                hex.substring(0, 2 * TRACE_ID),
                hex.substring(2 * TRACE_ID),
                TraceFlags.fromByte(bytes.byteAt(SIZE - 1)),
                TraceState.getDefault()))
        .filter(SpanContext::isValid);
  }

  private static String hex(ByteString bytes) {
    return HexFormat.of().formatHex(bytes.toByteArray());
  }
}
