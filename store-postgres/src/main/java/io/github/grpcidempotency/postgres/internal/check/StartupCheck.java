package io.github.grpcidempotency.postgres.internal.check;

import com.google.common.base.Throwables;
import com.google.common.collect.Comparators;
import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.database.StoreConnections;
import io.github.grpcidempotency.postgres.internal.database.StoreSettings;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.transaction.HandlerTransaction;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.spi.TransactionalStore;
import io.github.grpcidempotency.store.SetupException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jdbi.v3.core.ConnectionException;
import org.jdbi.v3.core.transaction.TransactionException;

/**
 * Finds configuration that would make the store fail or leak data later, and reports all problems
 * at once:
 *
 * <ol>
 *   <li>Whether the store's own connections can be used.
 *   <li>Whether the schema, the role and its rights are correct.
 *   <li>If there is no problem so far: whether a trial call works from its claim to its replay.
 *   <li>Whether the schema and the outbox match each procedure.
 *   <li>If a procedure is transactional: whether handlers' transactions use the same database and
 *       the same role.
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
    PoolCheck.of("the store's pool", database.settings().connections().pool())
        .ifPresent(problems::add);
    try {
      Place place = database.onConnection(Place::of);
      database.onConnection(Place::of).problemBeside(place).ifPresent(problems::add);
      if (checkSchema(procedures, shard)) {
        problems.addAll(probe().problemsOfReservations());
      }
    } catch (ConnectionException | TransactionException unreachable) {
      if (problems.isEmpty()) {
        throw unreachable;
      }
    }
    throwIfAny();
  }

  /** Checks the transactions of handlers, and tries a transactional call. */
  public void runTransactions() {
    StoreSettings settings = database.settings();
    if (settings.hosts().isEmpty()) {
      PoolCheck.of("the service's pool", settings.pool()).ifPresent(problems::add);
      if (StoreConnections.isRouting(settings.pool())) {
        problems.add(
            "the service's data source chooses a database for each thread, and the store would take"
                + " a transaction's connection before the handler runs: build the store with the"
                + " HostTransactions of a transaction manager, or with the pool of one database");
      }
    }
    if (problems.isEmpty()) {
      problems.addAll(problemsOfHost());
    }
    if (problems.isEmpty()) {
      problems.addAll(probe().problemsOfTransactions());
    }
    throwIfAny();
  }

  private List<String> problemsOfHost() {
    Place store = database.onConnection(Place::of);
    try (HandlerTransaction transaction = HandlerTransaction.open(database, "idempotency/check")) {
      return transaction.begin(Place::of).problemsBeside(store);
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
    return database
        .settings()
        .connections()
        .use(
            connection -> {
              SchemaCheck check = new SchemaCheck(connection, database.settings().schema());
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
              Map<String, String> columns = database.readResourceColumns(connection);
              for (RecordedProcedure procedure : procedures) {
                check
                    .problemOfColumn(procedure, columns)
                    .or(
                        () ->
                            sound
                                ? check.brokenOutbox(procedure, database.sql(procedure))
                                : Optional.empty())
                    .ifPresent(problem -> problems.add(procedure.name() + ": " + problem));
              }
              return sound;
            });
  }
}
