package io.github.grpcidempotency.opentelemetry;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TraceBytesTest {
  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String SPAN = "00f067aa0ba902b7";
  private static final String BYTES = "00" + TRACE + SPAN + "01";

  @Test
  void aSpansContextIsWrittenAsInTraceparent() {
    ByteString bytes = TraceBytes.of(contextOf(TRACE, SPAN)).orElseThrow();

    assertThat(bytes).isEqualTo(bytes(BYTES)).hasSizeLessThan(ClaimRequest.MAX_TRACE);
  }

  @Test
  void aWrittenContextIsReadAsTheContextOfASpan() {
    SpanContext read = TraceBytes.read(bytes(BYTES)).orElseThrow();

    assertThat(read.getTraceId()).isEqualTo(TRACE);
    assertThat(read.getSpanId()).isEqualTo(SPAN);
    assertThat(read.isSampled()).isTrue();
    assertThat(read.isRemote()).isTrue();
  }

  @Test
  void anInvalidContextIsNotWritten() {
    assertThat(TraceBytes.of(SpanContext.getInvalid())).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "00",
        "01" + TRACE + SPAN + "01",
        "00" + TRACE + SPAN,
        BYTES + "00",
        "00" + TRACE + "0000000000000000" + "01",
        "00" + "00000000000000000000000000000000" + SPAN + "01"
      })
  void whatIsUnknownOrMalformedIsIgnored(String unknown) {
    assertThat(TraceBytes.read(bytes(unknown))).isEmpty();
  }

  private static SpanContext contextOf(String trace, String span) {
    return SpanContext.create(trace, span, TraceFlags.getSampled(), TraceState.getDefault());
  }

  private static ByteString bytes(String hex) {
    return ByteString.copyFrom(HexFormat.of().parseHex(hex));
  }
}
