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
 * @param key the key
 * @param userId the user on whose behalf it runs
 * @param tenant the tenant; empty outside all tenants
 * @param project the project; empty outside all projects
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
    UUID userId,
    String tenant,
    String project,
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

  /** Returns what its state means for a retry, and what an operator can do, for people. */
  public String meaning() {
    return switch (state) {
      case RUNNING ->
          "The handler is running. Retries wait, or are refused because the call is in progress.";
      case STUCK ->
          leaseIsAhead
              ? "The lease ends later than a server can have set it, because the"
                  + " database's clock went back. Retries are refused until the lease ends. A server"
                  + " that is alive renews its lease within seconds: look at the operation again"
                  + " after a minute. If the lease is unchanged, look in your own data for the"
                  + " effect, and free the operation."
              : outcomeUnknown
                  ? "The handler has ended with an unknown outcome, and the lease has ended too: the"
                      + " next retry of the same request runs the handler again. First look in your"
                      + " own data for the effect."
                  : "The lease has ended without an outcome, so the server has crashed or is"
                      + " disconnected. The next retry of the same request takes the operation over."
                      + " If no retry comes, you can free it.";
      case UNKNOWN ->
          "The handler has ended with an unknown outcome. Retries are refused until the lease"
              + " ends. Look in your own data for the effect, then free the operation.";
      case COMPLETED -> "The response is recorded, and answers retries until it expires.";
      case FAILED -> "The error is recorded, and answers retries until it expires.";
      case EXPIRED ->
          "The record has expired and is not swept yet. The next call with its key runs the"
              + " handler.";
    };
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
