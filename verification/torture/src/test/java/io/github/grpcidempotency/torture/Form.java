package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.torture.v1.Effect;
import io.github.grpcidempotency.torture.v1.EffectRequest;
import io.github.grpcidempotency.torture.v1.TortureServiceGrpc;
import io.grpc.MethodDescriptor;

/** The ways in which effect and record are brought together, one method each. */
enum Form {
  RESERVED(TortureServiceGrpc.getReservedMethod(), false),
  FAIL_OPEN(TortureServiceGrpc.getFailOpenMethod(), false),
  JOINED(TortureServiceGrpc.getJoinedMethod(), true),
  JOINED_ATTACHED(TortureServiceGrpc.getJoinedAttachedMethod(), true),
  TRANSACTIONAL(TortureServiceGrpc.getTransactionalMethod(), true),
  TRANSACTIONAL_ATTACHED(TortureServiceGrpc.getTransactionalAttachedMethod(), true),
  LATE(TortureServiceGrpc.getLateMethod(), true),
  LATE_ATTACHED(TortureServiceGrpc.getLateAttachedMethod(), true),
  GUARDED(TortureServiceGrpc.getGuardedMethod(), true),
  GUARDED_ATTACHED(TortureServiceGrpc.getGuardedAttachedMethod(), true),
  JOB(TortureServiceGrpc.getJobMethod(), true);

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

  /** Whether duplicates wait. */
  boolean isAttached() {
    return this == JOINED_ATTACHED
        || this == TRANSACTIONAL_ATTACHED
        || this == LATE_ATTACHED
        || this == GUARDED_ATTACHED
        || this == JOB;
  }

  /** Whether only callers with a right may have a recorded answer. */
  boolean isGuarded() {
    return this == GUARDED || this == GUARDED_ATTACHED;
  }

  /** Whether a handler has a transaction of its own, in which it may answer. */
  private boolean mayAnswerWithin() {
    return switch (this) {
      case RESERVED, JOINED -> true;
      case FAIL_OPEN,
          JOINED_ATTACHED,
          TRANSACTIONAL,
          TRANSACTIONAL_ATTACHED,
          LATE,
          LATE_ATTACHED,
          GUARDED,
          GUARDED_ATTACHED,
          JOB ->
          false;
    };
  }

  /** Whether a handler has a connection of its own. */
  private boolean mayHold() {
    return this == RESERVED;
  }

  /** Whether a handler can behave in a manner. */
  boolean knows(Manner manner) {
    return switch (manner) {
      case ORDINARY -> true;
      case ELSEWHERE, NEVER -> this != JOB;
      case WITHIN -> mayAnswerWithin();
      case HOLDING -> mayHold();
      case INTERRUPTED -> this == JOB;
    };
  }

  /** Returns what the first flush of a claim contains. */
  String claim() {
    return switch (this) {
      case RESERVED, FAIL_OPEN, JOINED, JOINED_ATTACHED, GUARDED -> Plan.RESERVATION;
      case TRANSACTIONAL, TRANSACTIONAL_ATTACHED, GUARDED_ATTACHED, JOB -> Plan.TRANSACTION;
      case LATE, LATE_ATTACHED -> Plan.CLAIM_AT_COMMIT;
    };
  }
}
