package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.torture.v1.Effect;
import io.github.grpcidempotency.torture.v1.EffectRequest;
import io.github.grpcidempotency.torture.v1.TortureServiceGrpc;
import io.grpc.MethodDescriptor;

/** The ways in which effect and record are brought together, one method each. */
enum Form {
  RESERVED(TortureServiceGrpc.getReservedMethod()),
  JOINED(TortureServiceGrpc.getJoinedMethod()),
  JOINED_ATTACHED(TortureServiceGrpc.getJoinedAttachedMethod()),
  TRANSACTIONAL(TortureServiceGrpc.getTransactionalMethod()),
  TRANSACTIONAL_ATTACHED(TortureServiceGrpc.getTransactionalAttachedMethod());

  @SuppressWarnings("ImmutableEnumChecker") // gRPC's descriptors are, and do not say so
  private final MethodDescriptor<EffectRequest, Effect> method;

  Form(MethodDescriptor<EffectRequest, Effect> method) {
    this.method = method;
  }

  MethodDescriptor<EffectRequest, Effect> method() {
    return method;
  }

  /** Whether effect and record are one commit. */
  boolean joins() {
    return this != RESERVED;
  }
}
