package io.github.grpcidempotency.admin;

import java.util.List;
import java.util.Optional;

/**
 * A page of a list.
 *
 * @param operations the operations; possibly fewer than asked for, or none, although more follow: a
 *     page looks at 20,000 rows at most
 * @param next where the next page begins, for {@link OperationQuery#after}; empty at the end of the
 *     list
 */
public record OperationPage(List<OperationRecord> operations, Optional<String> next) {
  /** Copies the list. */
  public OperationPage {
    operations = List.copyOf(operations);
  }
}
