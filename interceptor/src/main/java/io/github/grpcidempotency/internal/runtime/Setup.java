package io.github.grpcidempotency.internal.runtime;

import io.github.grpcidempotency.procedure.ClaimTiming;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.OutagePolicy;
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

/** Checks descriptors and stores together, before the first call. */
public final class Setup {
  private Setup() {}

  /**
   * Runs all checks of the start-up.
   *
   * @param timing when transactional calls are claimed, for procedures without a setting of their
   *     own
   * @throws SetupException if there are problems; it lists all of them
   * @throws StoreException if the store cannot be reached and there is no other problem
   */
  public static void check(Procedures procedures, Optional<Stores> stores, ClaimTiming timing) {
    check(List.of(), procedures, stores, timing);
  }

  /**
   * Runs all checks of the start-up.
   *
   * @param found earlier problems, which are reported together with the new ones
   */
  public static void check(
      List<String> found, Procedures procedures, Optional<Stores> stores, ClaimTiming timing) {
    List<String> problems = new ArrayList<>(found);
    problems.addAll(procedures.problems());
    if (stores.isPresent()) {
      try {
        stores.get().check(procedures.all(), timing);
      } catch (SetupException wrong) {
        problems.addAll(wrong.problems());
      } catch (StoreException unreachable) {
        if (problems.isEmpty()) {
          throw unreachable;
        }
        problems.add("the store was not checked, because it cannot be reached: " + unreachable);
      }
    }
    if (!problems.isEmpty()) {
      throw new SetupException(problems);
    }
  }

  /** Returns the log line that describes how the calls of a procedure are protected. */
  public static String line(Procedure procedure) {
    String execution = "execution " + procedure.execution();
    return procedure.name()
        + ": "
        + switch (procedure.keyPolicy()) {
          case OPTIONAL ->
              "a call with a key is protected, a call without a key is not; %s; %s"
                  .formatted(execution, outage(procedure.outagePolicy()));
          case REQUIRED ->
              "every call is protected, and a call without a key is refused; %s; %s"
                  .formatted(execution, outage(procedure.outagePolicy()));
          case HANDLER_INTERNAL -> "the handler deduplicates; the interceptor protects no call";
          case PROHIBITED -> "not protected; a call with a key is refused";
        };
  }

  private static String outage(OutagePolicy policy) {
    return switch (policy) {
      case FAIL_OPEN ->
          "during an outage of the store, it fails open: a call with a key runs unprotected";
      case FAIL_CLOSED ->
          "during an outage of the store, it fails closed: a call with a key is refused";
    };
  }

  /**
   * Returns whether calls of a procedure are claimed with their handlers' first statements.
   *
   * @param timing the setting for transactional procedures without a setting of their own
   */
  static boolean claimsWithFirstStatement(Procedure procedure, ClaimTiming timing) {
    return procedure.execution() == Execution.TRANSACTIONAL
        && procedure.claimTiming().orElse(timing) == ClaimTiming.WITH_FIRST_STATEMENT;
  }

  /**
   * Checks one store.
   *
   * @param shard the name of the store, if it is one of several shards
   * @throws SetupException if there are problems; it lists all of them
   * @throws StoreException if the store cannot be reached
   */
  static void check(
      IdempotencyStore store,
      Optional<String> shard,
      Collection<Procedure> procedures,
      ClaimTiming timing) {
    try {
      verify(store, shard, procedures, timing);
    } catch (IllegalStateException wrong) {
      throw wrong instanceof SetupException listed
          ? listed
          : new SetupException(List.of(String.valueOf(wrong.getMessage())));
    }
  }

  private static void verify(
      IdempotencyStore store,
      Optional<String> shard,
      Collection<Procedure> procedures,
      ClaimTiming timing) {
    List<String> transactional =
        procedures.stream()
            .filter(procedure -> procedure.execution() == Execution.TRANSACTIONAL)
            .map(Procedure::name)
            .toList();
    store.verify(procedures.stream().map(RecordedProcedure::of).toList(), shard);
    for (Procedure procedure : procedures) {
      procedure
          .responseProtection()
          .ifPresent(
              protection ->
                  protection.verify(procedure.name(), store.answerBeginnings(procedure.name())));
    }
    if (transactional.isEmpty()) {
      return;
    }
    if (!(store instanceof TransactionalStore withTransactions)) {
      throw new SetupException(
          transactional.stream()
              .map(
                  name ->
                      ("%s: it is TRANSACTIONAL, but %s does not support transactions: choose RESERVED,"
                              + " or another store")
                          .formatted(name, store.getClass().getSimpleName()))
              .toList());
    }
    withTransactions.verifyTransactions();
    if (procedures.stream().anyMatch(each -> claimsWithFirstStatement(each, timing))) {
      withTransactions.verifyLateClaims();
    }
  }
}
