package io.github.grpcidempotency.longrunning;

import com.google.longrunning.ListOperationsRequest;
import com.google.longrunning.ListOperationsResponse;
import com.google.longrunning.Operation;
import com.google.protobuf.CodedOutputStream;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.proto.v1.OperationMetadata.State;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.StoredOperation;
import io.grpc.Context;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** One page of a caller's operations, the newest first. Used once. */
final class OperationPage {
  private static final int USUAL_SIZE = 50;
  private static final int MOST = 100;

  /** The maximum number of records, with their answers, in the memory of one page. */
  private static final int AT_ONCE = 20;

  /**
   * A page reads at most this many records. If few of them match, the next page continues there.
   */
  private static final int MOST_LOOKED_AT = 1_000;

  /** How often one page calls the resolvers of the service at most. */
  private static final int MOST_RESOLVED = 100;

  /**
   * Well below the four megabytes that gRPC's clients take by default. A larger operation is alone
   * on its page.
   */
  private static final int MOST_BYTES = 1 << 20;

  private final Map<String, Procedure> procedures;
  private final OperationsService.Asked asked;
  private final String filterText;
  private final OperationFilter filter;
  private final int size;
  private final ListOperationsResponse.Builder page = ListOperationsResponse.newBuilder();
  private Optional<UUID> last;
  private int lookedAt;
  private int resolved;
  private int bytes;

  OperationPage(
      Map<String, Procedure> procedures,
      ListOperationsRequest request,
      OperationsService.Asked asked) {
    if (request.getPageSize() < 0) {
      throw OperationsService.invalid("page_size must not be negative");
    }
    this.procedures = procedures;
    this.asked = asked;
    this.filterText = request.getFilter();
    this.filter = OperationFilter.parse(filterText);
    this.size = request.getPageSize() == 0 ? USUAL_SIZE : Math.min(request.getPageSize(), MOST);
    this.last = lastOfTheOneBefore(request.getPageToken());
  }

  ListOperationsResponse read() {
    Set<String> names = filter.procedure().map(Set::of).orElse(procedures.keySet());
    List<StoredOperation> some;
    do {
      some = asked.operations().catalog().list(asked.caller(), names, last, AT_ONCE);
      for (StoredOperation each : some) {
        if (!add(each) || isFull()) {
          return page.setNextPageToken(token()).build();
        }
      }
    } while (some.size() == AT_ONCE);
    return page.build();
  }

  /** Returns false, and leaves the operation to the next page, if this page would be too large. */
  private boolean add(StoredOperation stored) {
    lookedAt++;
    if (stored.standing() instanceof ClaimResult.Recorded recorded
        && recorded.status().isEmpty()
        && recorded.outcome().resourceId().isPresent()
        && WorkWatch.asksService(procedures, stored.procedure())) {
      resolved++;
    }
    State state = VisibleOperation.stateOf(asked.request(), stored);
    if (filter.states().contains(state)) {
      Operation operation = VisibleOperation.listed(asked.request(), stored, state);
      int more =
          CodedOutputStream.computeMessageSize(
              ListOperationsResponse.OPERATIONS_FIELD_NUMBER, operation);
      if (page.getOperationsCount() > 0 && bytes + more > MOST_BYTES) {
        return false;
      }
      bytes += more;
      page.addOperations(operation);
    }
    last = Optional.of(stored.id());
    return true;
  }

  private boolean isFull() {
    return page.getOperationsCount() == size
        || lookedAt >= MOST_LOOKED_AT
        || resolved >= MOST_RESOLVED
        || Context.current().isCancelled();
  }

  /** A token is valid only with the filter that it was made for. */
  private String token() {
    UUID id = last.orElseThrow();
    ByteBuffer token =
        ByteBuffer.allocate(2 * Long.BYTES + Integer.BYTES)
            .putLong(id.getMostSignificantBits())
            .putLong(id.getLeastSignificantBits())
            .putInt(filterText.hashCode());
    return Base64.getUrlEncoder().withoutPadding().encodeToString(token.array());
  }

  private Optional<UUID> lastOfTheOneBefore(String token) {
    if (token.isEmpty()) {
      return Optional.empty();
    }
    ByteBuffer bytes;
    try {
      bytes = ByteBuffer.wrap(Base64.getUrlDecoder().decode(token));
    } catch (IllegalArgumentException malformed) {
      throw OperationsService.invalid("page_token is not valid");
    }
    if (bytes.remaining() != 2 * Long.BYTES + Integer.BYTES) {
      throw OperationsService.invalid("page_token is not valid");
    }
    UUID id = new UUID(bytes.getLong(), bytes.getLong());
    if (bytes.getInt() != filterText.hashCode()) {
      throw OperationsService.invalid("page_token belongs to another filter");
    }
    return Optional.of(id);
  }
}
