package io.github.grpcidempotency.admin.service;

import com.google.protobuf.util.Durations;
import io.github.grpcidempotency.admin.OperationQuery;
import io.github.grpcidempotency.admin.OperationState;
import io.github.grpcidempotency.proto.v1.ListOperationsRequest;
import io.github.grpcidempotency.proto.v1.RecordedOperation;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Base64;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** A request for a page of operations, as a query. */
final class OperationPage {
  private static final int DEFAULT_SIZE = 50;
  private static final int MAX_SIZE = 500;
  private static final int TOKEN_BYTES = 2 * Long.BYTES + Integer.BYTES;

  private OperationPage() {}

  /** Returns how many are asked for. */
  static int size(int pageSize) {
    if (pageSize < 0) {
      throw AdminError.invalid("page_size", "is negative");
    }
    return pageSize == 0 ? DEFAULT_SIZE : Math.min(pageSize, MAX_SIZE);
  }

  /** Asks for one more than the page has room for: if there is one, there is a next page. */
  static OperationQuery query(ListOperationsRequest request) {
    return new OperationQuery(
        states(request),
        text(request.getProcedure()),
        text(request.getNamespace()),
        text(request.getUserId()).map(id -> uuid("user_id", id)),
        request.hasOlderThan()
            ? Optional.of(duration("older_than", request.getOlderThan()))
            : Optional.empty(),
        request.hasExpiringWithin()
            ? Optional.of(duration("expiring_within", request.getExpiringWithin()))
            : Optional.empty(),
        after(request),
        size(request.getPageSize()) + 1);
  }

  /** Returns the token of the page after the one that ends with an operation. */
  static String token(ListOperationsRequest request, UUID last) {
    ByteBuffer token =
        ByteBuffer.allocate(TOKEN_BYTES)
            .putLong(last.getMostSignificantBits())
            .putLong(last.getLeastSignificantBits())
            .putInt(restrictions(request));
    return Base64.getUrlEncoder().withoutPadding().encodeToString(token.array());
  }

  static UUID uuid(String field, String text) {
    try {
      UUID id = UUID.fromString(text);
      if (id.toString().equalsIgnoreCase(text)) {
        return id;
      }
    } catch (IllegalArgumentException malformed) {
      // as below
    }
    throw AdminError.invalid(field, "is not a UUID");
  }

  private static Optional<UUID> after(ListOperationsRequest request) {
    if (request.getPageToken().isEmpty()) {
      return Optional.empty();
    }
    ByteBuffer token = ByteBuffer.wrap(decoded(request.getPageToken()));
    if (token.remaining() != TOKEN_BYTES) {
      throw AdminError.invalid("page_token", "is not valid");
    }
    UUID last = new UUID(token.getLong(), token.getLong());
    if (token.getInt() != restrictions(request)) {
      throw AdminError.invalid("page_token", "was given for another list");
    }
    return Optional.of(last);
  }

  private static byte[] decoded(String token) {
    try {
      return Base64.getUrlDecoder().decode(token);
    } catch (IllegalArgumentException malformed) {
      throw AdminError.invalid("page_token", "is not valid");
    }
  }

  /** A hash of all that restricts the list: the same in every process. */
  private static int restrictions(ListOperationsRequest request) {
    return request.toBuilder().clearPageSize().clearPageToken().build().toByteString().hashCode();
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
                throw AdminError.invalid("states", "has one that is not known");
          });
    }
    return states;
  }

  private static Duration duration(String field, com.google.protobuf.Duration duration) {
    if (!Durations.isValid(duration) || Durations.isNegative(duration)) {
      throw AdminError.invalid(field, "is negative, or not valid");
    }
    return Duration.ofSeconds(duration.getSeconds(), duration.getNanos());
  }

  private static Optional<String> text(String field) {
    return Optional.of(field).filter(text -> !text.isEmpty());
  }
}
