package io.github.grpcidempotency.postgres.internal.sql;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.spi.RecordedProcedure;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The row of a key, as {@code select_record.sql} returns it. The database's clock sets all times,
 * including the time that they are compared with.
 */
public record RecordRow(
    UUID id,
    String procedure,
    Fingerprint fingerprint,
    int attempt,
    Instant expires,
    Optional<ByteString> response,
    Optional<ByteString> error,
    boolean outcomeUnknown,
    boolean ended,
    boolean expired,
    Duration leaseLeft,
    Optional<ResourceId> resourceId,
    boolean namesResource,
    Optional<List<String>> outboxStatus,
    boolean young,
    Optional<ByteString> trace) {
  /** For how long an outbox should still have the entry of a record. */
  private static final Duration YOUTH = Duration.ofMinutes(1);

  public static RecordRow read(ResultSet row) throws SQLException {
    Instant read = row.getObject("read", OffsetDateTime.class).toInstant();
    Instant expires = row.getObject("expires", OffsetDateTime.class).toInstant();
    boolean ended = row.getBoolean("ended");
    Duration leaseLeft = leaseLeft(row.getObject("lease_expires", OffsetDateTime.class), read);
    return new RecordRow(
        row.getObject("id", UUID.class),
        row.getString("procedure"),
        new Fingerprint(
            row.getInt("hash_version"),
            UnsafeByteOperations.unsafeWrap(row.getBytes("request_hash"))),
        row.getInt("attempt"),
        expires,
        bytes(row.getBytes("response_bytes")),
        bytes(row.getBytes("status_bytes")),
        row.getBoolean("outcome_unknown"),
        ended,
        !expires.isAfter(read) && (ended || leaseLeft.isZero()),
        leaseLeft,
        Optional.ofNullable(row.getString("resource_id")).map(ResourceId::of),
        row.getBoolean("names_resource"),
        outboxStatusIfAsked(row),
        claimed(row.getObject("id", UUID.class)).plus(YOUTH).isAfter(read),
        bytes(row.getBytes("trace")));
  }

  /** Returns the time in an id, which is a UUIDv7. */
  private static Instant claimed(UUID id) {
    return Instant.ofEpochMilli(id.getMostSignificantBits() >>> 16);
  }

  public boolean isSameRequestAs(ClaimRequest request) {
    return request.isFor(procedure, fingerprint);
  }

  /** Returns whether the row answers retries. */
  public boolean isRecord() {
    return ended && !expired;
  }

  /** Returns whether the row is unchanged since it was inserted, and its lease has not ended. */
  public boolean isUntouched() {
    return attempt == 1 && !ended && !leaseLeft.isZero();
  }

  public boolean isAbandoned() {
    return !ended && leaseLeft.isZero();
  }

  public ClaimResult.InFlight inFlight() {
    return new ClaimResult.InFlight(
        Optional.of(fingerprint),
        Optional.of(procedure),
        Optional.of(id),
        Optional.of(leaseLeft),
        outcomeUnknown);
  }

  /**
   * Returns the record with the status from the outbox, if the statement that read the row queried
   * the outbox.
   */
  public ClaimResult.Recorded recorded(RecordedProcedure asked) {
    return recorded(
        asked
            .outbox()
            .flatMap(outbox -> outboxStatus.flatMap(found -> outbox.statusOf(found, young))));
  }

  /**
   * Returns the record with the status of the asynchronous work. If a resource is deleted, the
   * reference to it is cleared and never set again, so {@code completed} is then final.
   */
  public ClaimResult.Recorded recorded(Optional<IdempotencyStatus> ofResource) {
    Optional<IdempotencyStatus> status =
        resourceId.isPresent()
            ? ofResource
            : Optional.of(IdempotencyStatus.COMPLETED).filter(gone -> namesResource);
    return ClaimResult.Recorded.of(id, procedure, fingerprint, outcome(), expires)
        .withStatus(status)
        .withTrace(trace);
  }

  private RecordedOutcome outcome() {
    if (response.isPresent()) {
      return new RecordedOutcome.Response(response.get(), resourceId);
    }
    return error.isPresent()
        ? new RecordedOutcome.Failure(error.get())
        : new RecordedOutcome.Reference(resourceId);
  }

  /** Returns the entries that an outbox query found: none, one, or the first two. */
  public static List<String> outboxStatus(ResultSet row) throws SQLException {
    return outboxStatusIfAsked(row).orElse(List.of());
  }

  /** Returns as above; empty if the statement did not run the query for this row. */
  private static Optional<List<String>> outboxStatusIfAsked(ResultSet row) throws SQLException {
    Array entries = row.getArray("outbox_status");
    return entries == null ? Optional.empty() : Optional.of(List.of((String[]) entries.getArray()));
  }

  private static Duration leaseLeft(@Nullable OffsetDateTime leaseExpires, Instant read) {
    return leaseExpires == null || !leaseExpires.toInstant().isAfter(read)
        ? Duration.ZERO
        : Duration.between(read, leaseExpires.toInstant());
  }

  private static Optional<ByteString> bytes(byte @Nullable [] value) {
    return Optional.ofNullable(value).map(UnsafeByteOperations::unsafeWrap);
  }
}
