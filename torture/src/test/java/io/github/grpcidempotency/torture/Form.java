package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.torture.v1.Effect;
import io.github.grpcidempotency.torture.v1.EffectRequest;
import io.github.grpcidempotency.torture.v1.TortureServiceGrpc;
import io.grpc.MethodDescriptor;

/** The ways in which effect and record are brought together, one method each. */
enum Form {
  RESERVED(TortureServiceGrpc.getReservedMethod(), false),
  SAME_DATABASE(TortureServiceGrpc.getSameDatabaseMethod(), false),
  FAIL_OPEN(TortureServiceGrpc.getFailOpenMethod(), false),
  JOINED(TortureServiceGrpc.getJoinedMethod(), true),
  JOINED_ATTACHED(TortureServiceGrpc.getJoinedAttachedMethod(), true),
  TRANSACTIONAL(TortureServiceGrpc.getTransactionalMethod(), true),
  TRANSACTIONAL_ATTACHED(TortureServiceGrpc.getTransactionalAttachedMethod(), true),
  LATE(TortureServiceGrpc.getLateMethod(), true),
  LATE_ATTACHED(TortureServiceGrpc.getLateAttachedMethod(), true);

  @SuppressWarnings("ImmutableEnumChecker") // gRPC's descriptors are, and do not say so
  private final MethodDescriptor<EffectRequest, Effect> method;

  private final boolean joins;

  Form(MethodDescriptor<EffectRequest, Effect> method, boolean joins) {
    this.method = method;
    this.joins = joins;
  }

  MethodDescriptor<EffectRequest, Effect> method() {
    return method;
  }

  /** Whether effect and record are one commit. */
  boolean joins() {
    return joins;
  }

  /** Returns what the first flush of a claim contains. */
  String claim() {
    return switch (this) {
      case RESERVED, SAME_DATABASE, FAIL_OPEN, JOINED, JOINED_ATTACHED -> Plan.RESERVATION;
      case TRANSACTIONAL, TRANSACTIONAL_ATTACHED -> Plan.TRANSACTION;
      case LATE, LATE_ATTACHED -> Plan.FIRST_FLUSH;
    };
  }
}
