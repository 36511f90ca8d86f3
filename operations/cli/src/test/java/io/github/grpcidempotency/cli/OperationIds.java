package io.github.grpcidempotency.cli;

/** The operations of {@code operations.sql}. */
final class OperationIds {
  static final String STUCK = "019303cd-3f00-7000-8000-000000000001";
  static final String STUCK_KEY = "3fd0a7c4-6f60-4e5a-9a5e-0a4f7a3b1c01";
  static final String COMPLETED = "019303cd-2f00-7000-8000-000000000002";
  static final String COMPLETED_KEY = "order-4712";
  static final String FAILED = "019303cd-1f00-7000-8000-000000000003";
  static final String FAILED_KEY = "5f3e0a4f-7a3b-4c01-9a5e-3fd0a7c46f60";
  static final String RUNNING = "019303cd-4f00-7000-8000-000000000004";
  static final String UNKNOWN = "019303cd-3e00-7000-8000-000000000005";
  static final String EXPIRED = "019303cc-0f00-7000-8000-000000000006";
  static final String ABSENT = "019303cc-0f00-7000-8000-0000000000ff";

  private OperationIds() {}
}
