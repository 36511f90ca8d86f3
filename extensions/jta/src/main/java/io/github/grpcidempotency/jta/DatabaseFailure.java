package io.github.grpcidempotency.jta;

import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Finds the error of the database in an exception of a transaction manager. */
final class DatabaseFailure {
  private DatabaseFailure() {}

  /**
   * Searches the causes and the suppressed exceptions, in which managers collect the errors of
   * their resources.
   */
  static Optional<SQLException> within(Throwable failure) {
    Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    Deque<Throwable> open = new ArrayDeque<>();
    open.add(failure);
    while (!open.isEmpty()) {
      Throwable next = open.remove();
      if (next instanceof SQLException found && found.getSQLState() != null) {
        return Optional.of(found);
      }
      if (seen.add(next)) {
        Optional.ofNullable(next.getCause()).ifPresent(open::add);
        open.addAll(List.of(next.getSuppressed()));
      }
    }
    return Optional.empty();
  }
}
