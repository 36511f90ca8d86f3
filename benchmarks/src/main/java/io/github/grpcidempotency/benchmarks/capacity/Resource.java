package io.github.grpcidempotency.benchmarks.capacity;

/** What a primary has only so much of. */
enum Resource {
  CORES("cores"),
  DISK_SPACE("disk space"),
  DISK_SPEED("disk speed"),
  NETWORK("network"),
  CONNECTIONS("connections"),
  VACUUM("vacuum (one process)"),
  LOG_REPLAY("replay of the log on a replica (one process)"),
  TRANSACTION_IDS("transaction ids");

  private final String label;

  Resource(String label) {
    this.label = label;
  }

  String label() {
    return label;
  }
}
