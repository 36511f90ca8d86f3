package io.github.grpcidempotency.benchmarks.scenario;

/** How PostgreSQL plans prepared statements. */
enum Plans {
  /** As it thinks best; for partitions that may be a plan for every call. */
  AUTO("plans as PostgreSQL chooses", "auto"),
  CUSTOM("custom plans", "force_custom_plan"),
  GENERIC("generic plans", "force_generic_plan");

  private final String label;
  private final String mode;

  Plans(String label, String mode) {
    this.label = label;
    this.mode = mode;
  }

  String label() {
    return label;
  }

  String setting() {
    return "plan_cache_mode=" + mode;
  }
}
