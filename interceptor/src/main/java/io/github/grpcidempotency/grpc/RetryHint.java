package io.github.grpcidempotency.grpc;

import static io.github.grpcidempotency.internal.wire.WireMetadata.ascii;

import com.google.common.primitives.Ints;
import io.github.grpcidempotency.proto.WireNames;
import io.grpc.Metadata;
import org.jspecify.annotations.Nullable;

/**
 * Detects whether a call repeats an earlier one: the client sends {@code idempotency-retry: true},
 * or gRPC's built-in retries send the number of earlier attempts (gRFC A6). This is only a hint to
 * look for a record first, so it need not be trusted, and a malformed value is ignored.
 */
final class RetryHint {
  private static final Metadata.Key<String> RETRY = ascii(WireNames.RETRY);
  private static final Metadata.Key<String> ATTEMPTS = ascii("grpc-previous-rpc-attempts");

  private RetryHint() {}

  static boolean isIn(Metadata headers) {
    return "true".equals(headers.get(RETRY)) || hasEarlierAttempts(headers.get(ATTEMPTS));
  }

  private static boolean hasEarlierAttempts(@Nullable String number) {
    Integer attempts = number == null ? null : Ints.tryParse(number);
    return attempts != null && attempts > 0;
  }
}
