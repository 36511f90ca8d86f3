package io.github.grpcidempotency.grpc;

import static io.github.grpcidempotency.internal.wire.WireMetadata.ascii;

import com.google.common.primitives.Ints;
import io.github.grpcidempotency.proto.WireNames;
import io.grpc.Metadata;
import org.jspecify.annotations.Nullable;

/**
 * Whether a call says that it repeats an earlier one: a client's own retries say so by {@code
 * idempotency-retry: true}, and gRPC's by the number of earlier attempts (gRFC A6). It is only a
 * hint where to look first, so that anybody may give it, and one that cannot be read is none.
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
