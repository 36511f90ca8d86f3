package io.github.grpcidempotency.internal.runtime;

import io.github.grpcidempotency.procedure.ClaimTiming;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.procedure.SetupException;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.store.RecordedProcedure;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.TransactionalStore;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/** Checks descriptors and store together, before the first call. */
public final class Setup {
  private Setup() {}

  /**
   * Checks everything that can be checked.
   *
   * @param timing when transactional calls are claimed whose procedures do not say so
   * @throws SetupException if anything is wrong; it lists all of it
   * @throws StoreException if the store cannot be reached, and nothing is wrong otherwise
   */
  public static void check(
      Procedures procedures, Optional<IdempotencyStore> store, ClaimTiming timing) {
    List<String> problems = new ArrayList<>(procedures.problems());
    if (store.isPresent()) {
      try {
        check(procedures.all(), store.get(), timing);
      } catch (SetupException wrong) {
        problems.addAll(wrong.problems());
      } catch (IllegalStateException wrong) {
        problems.add(String.valueOf(wrong.getMessage()));
      } catch (StoreException unreachable) {
        if (problems.isEmpty()) {
          throw unreachable;
        }
        problems.add("the store is not checked, because it cannot be reached: " + unreachable);
      }
    }
    if (!problems.isEmpty()) {
      throw new SetupException(problems);
    }
  }

  /**
   * Returns whether calls of a procedure are claimed with their handlers' first statements.
   *
   * @param timing the setting for transactional procedures that say nothing
   */
  static boolean claimsWithFirstStatement(Procedure procedure, ClaimTiming timing) {
    return procedure.execution() == Execution.TRANSACTIONAL
        && procedure.claimTiming().orElse(timing) == ClaimTiming.WITH_FIRST_STATEMENT;
  }

  private static void check(
      Collection<Procedure> procedures, IdempotencyStore store, ClaimTiming timing) {
    List<String> transactional =
        procedures.stream()
            .filter(procedure -> procedure.execution() == Execution.TRANSACTIONAL)
            .map(Procedure::name)
            .toList();
    store.verify(procedures.stream().map(RecordedProcedure::of).toList());
    if (transactional.isEmpty()) {
      return;
    }
    if (!(store instanceof TransactionalStore withTransactions)) {
      throw new SetupException(
          transactional.stream()
              .map(
                  name ->
                      "%s: it is transactional, and %s has no transactions"
                          .formatted(name, store.getClass().getSimpleName()))
              .toList());
    }
    withTransactions.verifyTransactions();
    if (procedures.stream().anyMatch(each -> claimsWithFirstStatement(each, timing))) {
      withTransactions.verifyLateClaims();
    }
  }
}
