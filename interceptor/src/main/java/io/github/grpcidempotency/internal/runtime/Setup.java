package io.github.grpcidempotency.internal.runtime;

import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.procedure.SetupException;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Checks descriptors and store together, before the first call. */
public final class Setup {
  private Setup() {}

  /**
   * Checks everything that can be checked.
   *
   * @throws SetupException if anything is wrong; it lists all of it
   * @throws StoreException if the store cannot be reached, and nothing is wrong otherwise
   */
  public static void check(Procedures procedures, Optional<IdempotencyStore> store) {
    List<String> problems = new ArrayList<>(procedures.problems());
    if (store.isPresent()) {
      try {
        store.get().verify(procedures.all());
      } catch (SetupException wrong) {
        problems.addAll(wrong.problems());
      } catch (IllegalStateException wrong) {
        problems.add(String.valueOf(wrong.getMessage()));
      } catch (StoreException unreachable) {
        if (problems.isEmpty()) {
          throw unreachable;
        }
        problems.add("the store is not checked, for it cannot be reached: " + unreachable);
      }
    }
    if (!problems.isEmpty()) {
      throw new SetupException(problems);
    }
  }
}
