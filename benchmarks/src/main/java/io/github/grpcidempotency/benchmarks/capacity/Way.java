package io.github.grpcidempotency.benchmarks.capacity;

import io.github.grpcidempotency.benchmarks.service.Variant;

/** How a create is run. */
enum Way {
  /** Without this library: what the others are held against. */
  BARE(Variant.BARE),
  /** A reservation, the handler, a completion. */
  RESERVED(Variant.RESERVED),
  /** The same, where effect and record are in one database. */
  RESERVED_SAME_DATABASE(Variant.RESERVED_SAME_DATABASE),
  /** The same, where the handler's own transaction completes and commits. */
  JOINED(Variant.JOINED_COMMIT),
  /** The handler in the claim's transaction. */
  TRANSACTIONAL(Variant.TRANSACTIONAL),
  /** The same, claimed with the first statement. */
  FIRST_STATEMENT(Variant.FIRST_STATEMENT);

  private final Variant variant;

  Way(Variant variant) {
    this.variant = variant;
  }

  /** Returns its name in the results of the benchmarks. */
  String label() {
    return variant.label();
  }

  /** Returns whether it keeps a record of the call. */
  boolean isRecorded() {
    return this != BARE;
  }

  /** Returns whether its record is written twice: the reservation, and the answer. */
  boolean isReserved() {
    return switch (this) {
      case RESERVED, RESERVED_SAME_DATABASE, JOINED -> true;
      case BARE, TRANSACTIONAL, FIRST_STATEMENT -> false;
    };
  }

  /** Returns how many dead rows a create leaves, from its update and from the sweep. */
  int deadRows() {
    return !isRecorded() ? 0 : isReserved() ? 2 : 1;
  }
}
