package io.github.grpcidempotency.work;

import com.google.protobuf.Message;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** The result of a piece of work. Immutable. */
public final class WorkResult<T extends Message> {
  private final T value;
  private final UUID operationId;
  private final Instant expires;
  private final Optional<IdempotencyStatus> status;
  private final boolean replayed;
  private final Set<String> omitted;

  private WorkResult(
      T value,
      UUID operationId,
      Instant expires,
      Optional<IdempotencyStatus> status,
      boolean replayed,
      Set<String> omitted) {
    this.value = value;
    this.operationId = operationId;
    this.expires = expires;
    this.status = status;
    this.replayed = replayed;
    this.omitted = omitted;
  }

  static <T extends Message> WorkResult<T> first(
      T value, UUID operationId, Instant expires, Optional<IdempotencyStatus> status) {
    return new WorkResult<>(value, operationId, expires, status, false, Set.of());
  }

  WorkResult<T> replayedWithout(Set<String> fields) {
    return new WorkResult<>(value, operationId, expires, status, true, fields);
  }

  /** Returns the result of this run, or the recorded result. */
  public T value() {
    return value;
  }

  /** Returns whether the result is that of an earlier run. */
  public boolean replayed() {
    return replayed;
  }

  /** Returns the id of the record. */
  public UUID operationId() {
    return operationId;
  }

  /** Returns when the record expires. */
  public Instant expires() {
    return expires;
  }

  /**
   * Returns the status of the asynchronous work behind the created resource; empty if the record
   * refers to no resource, although the procedure has a status resolver.
   */
  public Optional<IdempotencyStatus> status() {
    return status;
  }

  /**
   * Returns, on a replay, the paths of fields that were not recorded and are missing in the value.
   */
  public Set<String> omitted() {
    return omitted;
  }
}
