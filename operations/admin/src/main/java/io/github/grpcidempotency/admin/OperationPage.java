package io.github.grpcidempotency.admin;

import java.util.List;
import java.util.Optional;

/**
 * A page of a list.
 *
 * @param operations the operations; possibly fewer than the limit, or none, although more follow,
 *     because a page reads at most 20,000 rows
 * @param next the token of the next page, for {@link OperationQuery#after}; empty at the end of the
 *     list
 */
public record OperationPage(List<OperationRecord> operations, Optional<String> next) {
  /** Copies the list. */
  public OperationPage {
    operations = List.copyOf(operations);
  }
}
