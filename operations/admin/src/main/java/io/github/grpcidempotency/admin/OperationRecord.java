package io.github.grpcidempotency.admin;

import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/**
 * All that is known of an operation but its request and its answer. Times are the database's.
 *
 * @param id the operation's id, as clients and logs know it
 * @param key the key, without its namespace
 * @param namespace tenant and project, as {@code acme/apollo}; empty outside of both
 * @param userId the user on whose behalf it runs
 * @param procedure the procedure
 * @param state its state at {@code read}
 * @param outcomeUnknown whether its last handler ended without saying whether its effect happened;
 *     possible without a recorded outcome only, whether its lease has ended or not
 * @param attempt how often its handler was started, from 1
 * @param server the server that holds it, or held it; empty if it was recorded by a transaction
 * @param trace the trace of the run that made the answer, or is about to: a W3C {@code
 *     traceparent}, if that is what was recorded, otherwise the recorded bytes in hexadecimal
 * @param created when it was first claimed
 * @param leaseExpires until when its owner keeps it unless the lease is renewed; empty if it was
 *     recorded by a transaction
 * @param completed when its outcome was recorded; empty if there is none
 * @param expires until when it answers retries
 * @param resource the resource that it has made, such as {@code project/0190…}
 * @param answerBytes how large the recorded answer is; 0 without one
 * @param read when all of this was read
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
   * @param type the resource type, as the service's migration has added it
   * @param id its id
   */
  public record Resource(String type, UUID id) {}

  /** Leaves out the key, because raw keys must not get into logs. */
  @Override
  public String toString() {
    return "OperationRecord[" + id + "]";
  }
}
