package io.github.grpcidempotency.postgres.internal.check;

import com.google.common.base.Throwables;
import com.google.common.collect.Comparators;
import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.procedure.SetupException;
import io.github.grpcidempotency.store.RecordedProcedure;
import io.github.grpcidempotency.store.TransactionalStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jdbi.v3.core.ConnectionException;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.transaction.TransactionException;

/**
 * Finds configuration that would make the store fail or leak data later, and reports all problems
 * at once:
 *
 * <ol>
 *   <li>Whether the pools can be used.
 *   <li>Whether the schema, the role and its rights are correct.
 *   <li>If there is no problem so far: whether a trial call works from its claim to its replay.
 *   <li>Whether the schema and the outbox match each procedure.
 *   <li>Whether the host's transactions use the same database and the same role.
 *   <li>If a procedure needs it: whether a claim can be sent with a handler's first statement.
 * </ol>
 */
public final class StartupCheck {
  /** Longer than a trial call takes, even on a slow database. */
  private static final Duration MIN_TRIAL_LEASE = Duration.ofMinutes(1);

  private final RecordDatabase database;

  /** Creates the same store with another lease. */
  private final Function<Duration, TransactionalStore> storeOfLease;

  private final List<String> problems = new ArrayList<>();

  public StartupCheck(
      RecordDatabase database, Function<Duration, TransactionalStore> storeOfLease) {
    this.database = database;
    this.storeOfLease = storeOfLease;
  }

  /** Runs the checks of every store. A shard's database must contain the name of the shard. */
  public void run(Collection<RecordedProcedure> procedures, Optional<String> shard) {
    DataSource pool = database.settings().pool();
    DataSource maintenance = database.settings().maintenance();
    PoolCheck.ofFlushes("the store's pool", pool).ifPresent(problems::add);
    if (maintenance != pool) {
      PoolCheck.ofSingleStatements("the maintenance pool", maintenance).ifPresent(problems::add);
    }
    try {
      if (checkSchema(procedures, shard)) {
        problems.addAll(probe().problemsOfReservations());
      }
    } catch (ConnectionException unreachable) {
      if (problems.isEmpty()) {
        throw unreachable;
      }
    }
    throwIfAny();
  }

  /** Checks the host's transactions, if the store uses them, and tries a transactional call. */
  public void runTransactions() {
    problems.addAll(problemsOfHost());
    if (problems.isEmpty()) {
      problems.addAll(probe().problemsOfTransactions());
    }
    throwIfAny();
  }

  /** Tries a call whose claim is sent with its handler's first statement. */
  public void runLateClaims() {
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
      if (Failures.causeOf(failure).isTemporary()) {
        throw failure;
      }
      return List.of(
          "the host's transactions cannot be used: "
              + Throwables.getRootCause(failure).getMessage());
    }
  }

  private ProbeCall probe() {
    // The renewal makes the server's lease known to the database, if it is the longest.
    Duration lease = Comparators.max(database.lease(), MIN_TRIAL_LEASE);
    return new ProbeCall(storeOfLease.apply(lease), database);
  }

  private void throwIfAny() {
    if (!problems.isEmpty()) {
      throw new SetupException(problems);
    }
  }

  private boolean checkSchema(Collection<RecordedProcedure> procedures, Optional<String> shard) {
    try (Handle handle = Jdbi.open(database.settings().pool())) {
      SchemaCheck check = new SchemaCheck(handle, database.settings().schema());
      SchemaCheck.Tables tables = check.tables();
      Optional<String> missing = check.missing(tables);
      if (missing.isPresent()) {
        problems.add(missing.get());
        return false;
      }
      problems.addAll(check.problems());
      if (!tables.readable()) {
        return false;
      }
      shard.flatMap(check::otherShard).ifPresent(problems::add);
      boolean sound = problems.isEmpty();
      Map<String, String> columns = database.readResourceColumns(handle.getConnection());
      for (RecordedProcedure procedure : procedures) {
        check
            .problemOfColumn(procedure, columns)
            .or(
                () ->
                    sound
                        ? check.brokenOutbox(procedure, database.sql(procedure).idType)
                        : Optional.empty())
            .ifPresent(problem -> problems.add(procedure.name() + ": " + problem));
      }
      return sound;
    }
  }
}
