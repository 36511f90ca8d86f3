package io.github.grpcidempotency.admin.service;

import io.github.grpcidempotency.admin.OperationQuery;
import io.github.grpcidempotency.admin.OperationState;
import io.github.grpcidempotency.internal.field.ProtobufDurations;
import io.github.grpcidempotency.proto.v1.ListAuditEntriesRequest;
import io.github.grpcidempotency.proto.v1.ListOperationsRequest;
import io.github.grpcidempotency.proto.v1.RecordedOperation;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Requests for pages. A token names the end of a page and is valid only with the same restrictions.
 */
final class Paging {
  private static final int DEFAULT_SIZE = 50;
  private static final int MAX_SIZE = 500;

  private Paging() {}

  /** Returns the requested number of entries. */
  static int size(int pageSize) {
    if (pageSize < 0) {
      throw AdminError.invalid("page_size", "is negative");
    }
    return pageSize == 0 ? DEFAULT_SIZE : Math.min(pageSize, MAX_SIZE);
  }

  static OperationQuery query(ListOperationsRequest request) {
    Set<OperationState> states = states(request);
    Optional<UUID> userId = text(request.getUserId()).map(id -> uuid("user_id", id));
    Optional<Duration> olderThan =
        request.hasOlderThan()
            ? Optional.of(duration("older_than", request.getOlderThan()))
            : Optional.empty();
    Optional<Duration> expiringWithin =
        request.hasExpiringWithin()
            ? Optional.of(duration("expiring_within", request.getExpiringWithin()))
            : Optional.empty();
    Optional<String> after = end(request.getPageToken(), restrictions(request));
    int limit = size(request.getPageSize());
    try {
      return new OperationQuery(
          states,
          text(request.getProcedure()),
          text(request.getNamespace()),
          userId,
          olderThan,
          expiringWithin,
          after,
          limit);
    } catch (IllegalArgumentException malformed) {
      // The other values were checked above.
      throw AdminError.invalid("page_token", "is not valid");
    }
  }

  static String token(ListOperationsRequest request, String end) {
    return token(end, restrictions(request));
  }

  static String token(ListAuditEntriesRequest request, long end) {
    return token(String.valueOf(end), restrictions(request));
  }

  static Optional<Long> before(ListAuditEntriesRequest request) {
    return end(request.getPageToken(), restrictions(request)).map(Paging::number);
  }

  private static String token(String end, int restrictions) {
    byte[] place = end.getBytes(StandardCharsets.US_ASCII);
    ByteBuffer token =
        ByteBuffer.allocate(Integer.BYTES + place.length).putInt(restrictions).put(place);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(token.array());
  }

  static UUID uuid(String field, String text) {
    try {
      UUID id = UUID.fromString(text);
      if (id.toString().equalsIgnoreCase(text)) {
        return id;
      }
    } catch (IllegalArgumentException malformed) { // reported below
    }
    throw AdminError.invalid(field, "is not a UUID");
  }

  /** Returns the end of the previous page. */
  private static Optional<String> end(String pageToken, int restrictions) {
    if (pageToken.isEmpty()) {
      return Optional.empty();
    }
    ByteBuffer token = ByteBuffer.wrap(decoded(pageToken));
    if (token.remaining() <= Integer.BYTES) {
      throw AdminError.invalid("page_token", "is not valid");
    }
    if (token.getInt() != restrictions) {
      throw AdminError.invalid("page_token", "was given for another list");
    }
    return Optional.of(StandardCharsets.US_ASCII.decode(token).toString());
  }

  private static long number(String end) {
    try {
      return Long.parseLong(end);
    } catch (NumberFormatException malformed) {
      throw AdminError.invalid("page_token", "is not valid");
    }
  }

  private static byte[] decoded(String token) {
    try {
      return Base64.getUrlDecoder().decode(token);
    } catch (IllegalArgumentException malformed) {
      throw AdminError.invalid("page_token", "is not valid");
    }
  }

  /** Returns a hash of all restrictions of a list, which is the same in every process. */
  private static int restrictions(ListOperationsRequest request) {
    return request.toBuilder().clearPageSize().clearPageToken().build().toByteString().hashCode();
  }

  private static int restrictions(ListAuditEntriesRequest request) {
    return request.getOperation().hashCode();
  }

  private static Set<OperationState> states(ListOperationsRequest request) {
    Set<OperationState> states = EnumSet.noneOf(OperationState.class);
    for (RecordedOperation.State state : request.getStatesList()) {
      states.add(
          switch (state) {
            case STATE_RUNNING -> OperationState.RUNNING;
            case STATE_STUCK -> OperationState.STUCK;
            case STATE_UNKNOWN -> OperationState.UNKNOWN;
            case STATE_COMPLETED -> OperationState.COMPLETED;
            case STATE_FAILED -> OperationState.FAILED;
            case STATE_EXPIRED -> OperationState.EXPIRED;
            case STATE_UNSPECIFIED, UNRECOGNIZED ->
                throw AdminError.invalid("states", "has an unknown state");
          });
    }
    return states;
  }

  private static Duration duration(String field, com.google.protobuf.Duration duration) {
    return ProtobufDurations.read(duration)
        .filter(valid -> !valid.isNegative())
        .orElseThrow(() -> AdminError.invalid(field, "is negative or not valid"));
  }

  private static Optional<String> text(String field) {
    return Optional.of(field).filter(text -> !text.isEmpty());
  }
}
