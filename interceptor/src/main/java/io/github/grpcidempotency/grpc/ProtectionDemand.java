package io.github.grpcidempotency.grpc;

import static io.github.grpcidempotency.internal.wire.WireMetadata.ascii;

import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.proto.WireNames;
import io.grpc.Metadata;

/**
 * Detects the header {@code idempotency-required: true}, with which a client demands that its call
 * does not run without protection. If it is present, an optional key is required, and the call is
 * refused during an outage of the store.
 */
final class ProtectionDemand {
  private static final Metadata.Key<String> REQUIRED = ascii(WireNames.REQUIRED);

  private ProtectionDemand() {}

  static boolean isIn(Metadata headers) {
    return "true".equals(headers.get(REQUIRED));
  }

  static KeyPolicy keyPolicy(Procedure procedure, Metadata headers) {
    return procedure.keyPolicy() == KeyPolicy.OPTIONAL && isIn(headers)
        ? KeyPolicy.REQUIRED
        : procedure.keyPolicy();
  }

  static OutagePolicy outagePolicy(Procedure procedure, Metadata headers) {
    return isIn(headers) ? OutagePolicy.FAIL_CLOSED : procedure.outagePolicy();
  }
}
