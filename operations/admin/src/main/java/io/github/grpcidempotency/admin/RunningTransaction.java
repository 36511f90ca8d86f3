package io.github.grpcidempotency.admin;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/**
 * The transaction of a transactional call, which has no record before it commits.
 *
 * @param process the number of its process on the database's server, as in {@code
 *     pg_stat_activity}; empty for a prepared transaction
 * @param application the name that its client gave; empty if it gave none
 * @param address its client's address and port; empty if the operator's role lacks {@code
 *     pg_read_all_stats}, or for a Unix socket
 * @param since its begin; empty if the operator's role lacks {@code pg_read_all_stats}
 */
public record RunningTransaction(
    Optional<Integer> process,
    Optional<String> application,
    Optional<String> address,
    Optional<Instant> since) {

  /** Returns what it is and where it runs, for people. */
  public String meaning() {
    return "A transaction with this key is running: "
        + process
            .map("process %d of the database"::formatted)
            .orElse("a prepared transaction, without a process")
        + application.map(", application "::concat).orElse("")
        + address.map(", client "::concat).orElse("")
        + since.map(begin -> ", since " + begin.truncatedTo(ChronoUnit.SECONDS)).orElse("")
        + ". It has no record and no id before it commits.";
  }
}
