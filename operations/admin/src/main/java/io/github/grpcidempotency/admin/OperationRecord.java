package io.github.grpcidempotency.admin;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * An operation with everything that is recorded, except its request and its answer. Times are of
 * the database's clock.
 *
 * @param id the operation's id, which trailers and logs contain
 * @param key the key, without its namespace
 * @param namespace tenant and project, such as {@code acme/apollo}; empty for a key without a
 *     namespace
 * @param userId the user on whose behalf it runs
 * @param procedure the procedure
 * @param state its state at {@code read}
 * @param outcomeUnknown whether its last handler ended with an unknown outcome; possible only
 *     without a recorded outcome, whether or not its lease has ended
 * @param attempt the number of its last attempt, starting with 1
 * @param server the server that holds or held it; empty if a transaction recorded it
 * @param takeovers the servers of its earlier attempts, in order
 * @param trace the trace of the run that produced the answer, or is running: a W3C {@code
 *     traceparent}, if that was recorded, otherwise the recorded bytes in hexadecimal
 * @param created the time of its first claim
 * @param leaseExpires the end of its lease, unless the lease is renewed; empty if a transaction
 *     recorded it
 * @param completed the time at which its outcome was recorded; empty if there is none
 * @param expires the end of the time in which it answers retries
 * @param retained the last replay that has extended {@code expires}, if its procedure retains
 *     records from their last replay; other replays are not recorded
 * @param leaseIsAhead whether the lease ends later than a server can have set it, because the
 *     database's clock went back. The operation is then {@link OperationState#STUCK}
 * @param resource the resource that it has created, such as {@code project/0190…}
 * @param answerBytes the size of the recorded answer; 0 without one
 * @param read the time at which this was read
 */
public record OperationRecord(
    UUID id,
    String key,
    String namespace,
    UUID userId,
    String procedure,
    OperationState state,
    boolean outcomeUnknown,
    int attempt,
    Optional<String> server,
    List<Takeover> takeovers,
    Optional<String> trace,
    Instant created,
    Optional<Instant> leaseExpires,
    Optional<Instant> completed,
    Instant expires,
    Optional<Instant> retained,
    boolean leaseIsAhead,
    Optional<Resource> resource,
    long answerBytes,
    Instant read) {

  /** Copies the list. */
  public OperationRecord {
    takeovers = List.copyOf(takeovers);
  }

  /**
   * The end of an attempt whose server has lost its lease.
   *
   * @param server the server
   * @param at the time at which another server has taken the operation over
   */
  public record Takeover(String server, Instant at) {}

  /** Returns the time since it was created; zero if the database's clock went back since then. */
  public Duration age() {
    Duration age = Duration.between(created, read);
    return age.isNegative() ? Duration.ZERO : age;
  }

  /**
   * A resource.
   *
   * @param type the resource type, as added by the service's migration
   * @param id its id
   */
  public record Resource(String type, String id) {}

  /** Omits the key, because raw keys must not get into logs. */
  @Override
  public String toString() {
    return "OperationRecord[" + id + "]";
  }
}
