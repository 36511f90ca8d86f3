package io.github.grpcidempotency.postgres;

import com.google.common.base.Throwables;
import io.github.grpcidempotency.internal.decision.FailureDecider;
import io.github.grpcidempotency.procedure.SetupException;
import io.github.grpcidempotency.store.RecordedProcedure;
import io.github.grpcidempotency.store.TransactionalStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jdbi.v3.core.ConnectionException;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.transaction.TransactionException;

/**
 * Looks for anything that would make the store fail or leak later, and reports every problem at
 * once:
 *
 * <ol>
 *   <li>Whether its pools are fit for use.
 *   <li>Whether the schema, the role and its rights are as they should be.
 *   <li>Whether a call works from its claim to its replay, if nothing is wrong so far.
 *   <li>Whether the schema and the outbox are as each procedure needs them.
 *   <li>Whether the host's transactions are on the same database, as the same role.
 *   <li>Whether a claim can travel with a handler's first statement, if one is to.
 * </ol>
 */
final class StartupCheck {
  /** Longer than a trial call takes, however slow the database is. */
  private static final Duration TRIAL_LEASE = Duration.ofMinutes(1);

  static final String NO_LATE_CLAIMS =
      "a store with advisoryLocks(false) cannot claim with a handler's first statement, because"
          + " nothing would keep a duplicate's from waiting behind it: let the procedures claim"
          + " BEFORE_HANDLER";

  private final RecordDatabase database;
  private final DataSource maintenance;
  private final Function<Duration, TransactionalStore> storeOfLease;
  private final List<String> problems = new ArrayList<>();

  /**
   * Makes the check.
   *
   * @param storeOfLease makes a store that differs in its lease
   */
  StartupCheck(
      RecordDatabase database,
      DataSource maintenance,
      Function<Duration, TransactionalStore> storeOfLease) {
    this.database = database;
    this.maintenance = maintenance;
    this.storeOfLease = storeOfLease;
  }

  /**
   * Runs every check.
   *
   * @throws SetupException listing what is wrong
   * @throws org.jdbi.v3.core.JdbiException if the database cannot be reached
   * @throws io.github.grpcidempotency.store.StoreException if it cannot be reached any more
   */
  void run(Collection<RecordedProcedure> procedures) {
    PoolCheck.ofFlushes("the store's pool", database.pool()).ifPresent(problems::add);
    if (maintenance != database.pool()) {
      PoolCheck.ofSingleStatements("the maintenance pool", maintenance).ifPresent(problems::add);
    }
    try {
      if (checkSchema(procedures)) {
        problems.addAll(probe().problemsOfReservations());
      }
    } catch (ConnectionException unreachable) {
      if (problems.isEmpty()) {
        throw unreachable;
      }
    }
    throwIfAny();
  }

  /**
   * Checks the host's transactions, if claims are such, and tries a transactional call.
   *
   * @throws SetupException saying what is wrong
   * @throws org.jdbi.v3.core.JdbiException if the database cannot be reached
   * @throws io.github.grpcidempotency.store.StoreException if it cannot be reached any more
   */
  void runTransactions() {
    problems.addAll(problemsOfHost());
    if (problems.isEmpty()) {
      problems.addAll(probe().problemsOfTransactions());
    }
    throwIfAny();
  }

  /**
   * Tries a call that is claimed with its handler's first statement.
   *
   * @throws SetupException saying what is wrong
   * @throws org.jdbi.v3.core.JdbiException if the database cannot be reached
   * @throws io.github.grpcidempotency.store.StoreException if it cannot be reached any more
   */
  void runLateClaims() {
    if (!database.locks()) {
      problems.add(NO_LATE_CLAIMS);
    }
    problems.addAll(HostCheck.problemsOfCarrying(database));
    if (problems.isEmpty()) {
      problems.addAll(probe().problemsOfLateClaims());
    }
    throwIfAny();
  }

  private List<String> problemsOfHost() {
    try {
      return HostCheck.problems(database);
    } catch (TransactionException failure) {
      if (FailureDecider.passes(Failures.causeOf(failure))) {
        throw failure;
      }
      return List.of(
          "the host's transactions are of no use: "
              + Throwables.getRootCause(failure).getMessage());
    }
  }

  private ProbeCall probe() {
    return new ProbeCall(storeOfLease.apply(TRIAL_LEASE), database, maintenance);
  }

  private void throwIfAny() {
    if (!problems.isEmpty()) {
      throw new SetupException(problems);
    }
  }

  /** Returns whether a call may be tried. */
  private boolean checkSchema(Collection<RecordedProcedure> procedures) {
    try (Handle handle = Jdbi.open(database.pool())) {
      SchemaCheck check = new SchemaCheck(handle, database.schema());
      if (!check.tableExists()) {
        problems.add(
            "the table %s.idempotency_keys does not exist; migrate it with IdempotencySchema"
                .formatted(database.schema()));
        return false;
      }
      if (!check.isMigrated()) {
        problems.add(
            "the table %s.idempotency_keys is of an earlier release, without V4__observation.sql or V6__refusals.sql;"
                    .formatted(database.schema())
                + " migrate it with IdempotencySchema before this server starts");
        return false;
      }
      check.missingRefusals().ifPresent(problems::add);
      problems.addAll(check.problems());
      boolean sound = problems.isEmpty();
      for (RecordedProcedure procedure : procedures) {
        check
            .missingColumn(procedure)
            .or(() -> sound ? check.brokenOutbox(procedure) : Optional.empty())
            .ifPresent(problem -> problems.add(procedure.name() + ": " + problem));
      }
      return sound;
    }
  }
}
