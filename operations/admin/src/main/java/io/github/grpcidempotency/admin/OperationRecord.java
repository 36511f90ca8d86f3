package io.github.grpcidempotency.admin;

import java.time.Instant;
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
 * @param trace the trace of the run that produced the answer, or is running: a W3C {@code
 *     traceparent}, if that was recorded, otherwise the recorded bytes in hexadecimal
 * @param created the time of its first claim
 * @param leaseExpires the end of its lease, unless the lease is renewed; empty if a transaction
 *     recorded it
 * @param completed the time at which its outcome was recorded; empty if there is none
 * @param expires the end of the time in which it answers retries
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
    Optional<String> trace,
    Instant created,
    Optional<Instant> leaseExpires,
    Optional<Instant> completed,
    Instant expires,
    Optional<Resource> resource,
    long answerBytes,
    Instant read) {

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
