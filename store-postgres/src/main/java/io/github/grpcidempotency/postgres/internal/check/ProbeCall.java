package io.github.grpcidempotency.postgres.internal.check;

import com.google.common.base.Throwables;
import com.google.protobuf.ByteString;
import io.github.grpcidempotency.background.DaemonThreads;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.postgres.internal.claim.ClaimBatch;
import io.github.grpcidempotency.postgres.internal.claim.Inserted;
import io.github.grpcidempotency.postgres.internal.claim.Reservation;
import io.github.grpcidempotency.postgres.internal.claim.SettleBatch;
import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.sql.CommitRefusal;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.LockId;
import io.github.grpcidempotency.postgres.internal.sql.Parameters;
import io.github.grpcidempotency.postgres.internal.sql.SqlFile;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.postgres.internal.watch.PostgresCompletionWatch;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.spi.Claim;
import io.github.grpcidempotency.store.spi.Claim.Settled;
import io.github.grpcidempotency.store.spi.ClaimRequest;
import io.github.grpcidempotency.store.spi.ClaimResult;
import io.github.grpcidempotency.store.spi.RecordedOutcome;
import io.github.grpcidempotency.store.spi.RecordedProcedure;
import io.github.grpcidempotency.store.spi.TransactionalStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A trial call at start-up, for a user that does not exist. It runs the statements of a real call
 * on all connections that a real call uses:
 *
 * <ol>
 *   <li>Listen and notify, unless servers are told not to.
 *   <li>Read the time line, unless reservations are not bound to it.
 *   <li>Check that a refused commit fails.
 *   <li>Reserve a key. Check that another user does not see the record, and that a duplicate is
 *       reported as in flight.
 *   <li>Renew the lease, announce that the end of the call is awaited, query whether the call is
 *       running, and check the result.
 *   <li>Complete the call, which removes the announcement, and replay it.
 *   <li>Reserve another key, and release it.
 *   <li>Reserve two keys of two users by one statement, as for calls that run at the same time, and
 *       complete both by one statement.
 *   <li>If a procedure is transactional: claim a key with a transaction, which takes an advisory
 *       lock. If the service's pool has a second connection, check that a duplicate on it is
 *       refused, and that {@code in_flight} reports the call. Complete it, and replay it.
 * </ol>
 *
 * <p>The trial call deletes its rows. After a crash, they expire within a minute.
 */
final class ProbeCall {
  private static final Logger logger = LoggerFactory.getLogger(ProbeCall.class);
  private static final Duration RETENTION = Duration.ofMinutes(1);

  /** The time to wait for a second connection, because a pool may have only one. */
  private static final Duration MAX_WAIT = Duration.ofSeconds(3);

  private static final RecordedProcedure PROCEDURE =
      RecordedProcedure.of(
          Procedure.named("idempotency/probe").attach(Duration.ofMinutes(1)).build());

  private static final Fingerprint NOTHING_ASKED =
      new Fingerprint(Fingerprinter.FIRST_VERSION, ByteString.EMPTY);

  private static final RecordedOutcome ANSWER =
      new RecordedOutcome.Response(ByteString.copyFromUtf8("a trial"), Optional.empty());

  private final TransactionalStore store;
  private final RecordDatabase database;
  private final Caller caller = Caller.of(UUID.randomUUID());

  /** The keys of all trial calls. They are kept here because no index finds a user's records. */
  private final List<String> keys = new ArrayList<>();

  /** Claims the key of a trial call. */
  private Function<ClaimRequest, ClaimResult> claiming;

  /** The current step, for the error message. */
  private String step = "";

  /** A statement succeeded without the expected result. */
  private static final class UnexpectedResult extends RuntimeException {
    private static final long serialVersionUID = 1L;

    UnexpectedResult(String problem) {
      super(problem);
    }
  }

  /** The changes by the functions for all users, as the call's user sees them. */
  private record State(boolean renewed, boolean awaited) {}

  /** A running call, as a duplicate and a look-up see it. */
  private record Seen(ClaimResult result, boolean running) {}

  ProbeCall(TransactionalStore store, RecordDatabase database) {
    this.store = store;
    this.claiming = store::claim;
    this.database = database;
  }

  /** Makes reserved calls, and returns the problems. Rethrows what is temporary. */
  List<String> problemsOfReservations() {
    return Stream.of(
            problemOfNotifications(),
            problemOfTimeLine(),
            problemOfRefusals(),
            problemOf(this::completeReserved),
            problemOf(this::releaseReserved),
            problemOf(this::completeSeveral))
        .flatMap(Optional::stream)
        .toList();
  }

  /** Makes a transactional call, and returns the problems. Rethrows what is temporary. */
  List<String> problemsOfTransactions() {
    claiming = store::claimInTransaction;
    return problemOf(this::completeTransaction).stream().toList();
  }

  private Optional<String> problemOfNotifications() {
    return problemOf(
        database.settings().notifies(),
        () ->
            withHandle(
                handle ->
                    PostgresCompletionWatch.tryListening(handle, database.settings().schema())),
        "the database has no LISTEN and pg_notify for the role of the store's pool (%s); build the store with listen(false), so that servers poll instead");
  }

  private Optional<String> problemOfTimeLine() {
    return problemOf(
        database.settings().timeLines(),
        () -> execute("check/time_line"),
        "the database does not report its time line to the role of the store's pool (%s), so a"
            + " failover during a call cannot be detected; grant EXECUTE on pg_walfile_name and"
            + " pg_current_wal_lsn, or build the store with timeLines(false)");
  }

  /** Checks that a refused flush is not committed, and that its SQLSTATE names the reason. */
  private Optional<String> problemOfRefusals() {
    String problem =
        ("%s.refuse_commit does not raise the SQLSTATE that it is given, so the transaction of"
                + " a call that has lost its key would be committed; migrate the schema again")
            .formatted(database.settings().schema());
    return problemOf(() -> check(isRefused("check/probe_refusal"), problem), failure -> problem);
  }

  private boolean isRefused(String statement) {
    try {
      execute(statement);
      return false;
    } catch (JdbiException failure) {
      if (CommitRefusal.CLAIM_LOST.isReasonOf(failure)) {
        return true;
      }
      throw failure;
    }
  }

  /** Runs a trial, if the store needs it. Returns the problem, with the reason, if it fails. */
  private static Optional<String> problemOf(boolean needed, Runnable trial, String problem) {
    return needed ? problemOf(trial, problem::formatted) : Optional.empty();
  }

  private Optional<String> problemOf(Consumer<ClaimRequest> trial) {
    ClaimRequest request = request();
    try {
      return problemOf(
          () -> trial.accept(request),
          reason -> "a trial call of the start-up check could not %s: %s".formatted(step, reason));
    } finally {
      forget(request);
    }
  }

  /** Runs a trial. Returns its problem if it fails permanently. */
  private static Optional<String> problemOf(Runnable trial, UnaryOperator<String> problem) {
    try {
      trial.run();
      return Optional.empty();
    } catch (UnexpectedResult unexpected) {
      return Optional.ofNullable(unexpected.getMessage());
    } catch (RuntimeException failure) {
      if (causeOf(failure).isTemporary()) {
        throw failure;
      }
      logger.debug("a trial call failed", failure);
      return Optional.of(problem.apply(reasonOf(failure)));
    }
  }

  private void execute(String statement) {
    Optional<Boolean> unused =
        database.onConnection(
            connection ->
                StatementBatch.run(connection, load(statement), none -> none, row -> true));
  }

  private void completeReserved(ClaimRequest request) {
    try (Claim claim = win(request)) {
      checkHidden(claim);
      step = "detect a running call";
      check(
          store.claim(request) instanceof ClaimResult.InFlight,
          "a duplicate of a running trial call was not refused");
      checkFunctions(claim);
      complete(claim);
      check(
          !state(claim).awaited(),
          "the end of a trial call did not notify the calls that wait for it");
    }
  }

  private void releaseReserved(ClaimRequest request) {
    try (Claim claim = win(request)) {
      step = "release its key";
      check(claim.release() == Settled.DONE, "the key of a trial call was not released");
    }
  }

  private void completeSeveral(ClaimRequest request) {
    ClaimRequest another = request(Caller.of(UUID.randomUUID()));
    try {
      step = "claim keys in one statement for several calls";
      List<ClaimBatch.Call> calls =
          Stream.of(request, another)
              .map(each -> new ClaimBatch.Call(each, database.ids().next()))
              .toList();
      List<Optional<Inserted>> claimed =
          database
              .onConnection(connection -> new ClaimBatch(database).run(connection, calls))
              .stream()
              .map(Optional::orElseThrow)
              .toList();
      check(
          claimed.stream().allMatch(Optional::isPresent),
          "one statement for several trial calls did not claim their keys");
      step = "record answers in one statement for several calls";
      SettleBatch complete = new SettleBatch(database.sql(PROCEDURE).completeBatch.orElseThrow());
      List<SettleBatch.Call> answered =
          List.of(answered(request, claimed.get(0)), answered(another, claimed.get(1)));
      boolean completed =
          database.onConnection(connection -> complete.run(connection, answered)).stream()
              .allMatch(Optional::isPresent);
      check(completed, "one statement for several trial calls did not record their answers");
    } finally {
      forget(another);
    }
  }

  private SettleBatch.Call answered(ClaimRequest request, Optional<Inserted> claimed) {
    return new SettleBatch.Call(
        new Reservation(database, request, claimed.orElseThrow()), Optional.of(ANSWER));
  }

  private void completeTransaction(ClaimRequest request) {
    try (Claim claim = win(request)) {
      step = "refuse its duplicate";
      checkDuplicates(request);
      complete(claim);
    }
  }

  private Claim win(ClaimRequest request) {
    step = "claim a key";
    if (claiming.apply(request) instanceof ClaimResult.Won won) {
      return won.claim();
    }
    throw new UnexpectedResult("a trial call did not win a key that no other call holds");
  }

  private void complete(Claim claim) {
    step = "record its answer";
    check(claim.complete(ANSWER) == Settled.DONE, "the answer of a trial call was not recorded");
    step = "replay its answer";
    check(
        claiming.apply(claim.request()) instanceof ClaimResult.Recorded recorded
            && recorded.outcome().equals(ANSWER),
        "the recorded answer of a trial call was not replayed");
  }

  private void checkHidden(Claim claim) {
    step = "look for its key as another user";
    Optional<UUID> seen =
        run(
            "check/probe_foreign",
            claim.request(),
            values ->
                values.bind("id", claim.operationId()).bind("user", UUID.randomUUID().toString()),
            row -> row.getObject("id", UUID.class));
    check(
        seen.isEmpty(),
        ("row-level security shows a user's record to another user; drop the policies on"
                + " %s.idempotency_keys that the library did not create")
            .formatted(database.settings().schema()));
  }

  /** Checks the functions that work for all users. */
  private void checkFunctions(Claim claim) {
    step = "renew its lease";
    boolean owned = store.renew(List.of(claim)).contains(claim.operationId());
    step = "announce that the end of the call is awaited";
    if (database.settings().notifies()) {
      List<Long> locks = List.of(LockId.of(claim.request().key()));
      withHandle(
          handle ->
              PostgresCompletionWatch.announce(handle, load("maintenance/announce_waits"), locks));
    }
    step = "query whether the call is running";
    boolean running = isRunning(claim.request().key());
    step = "check the result";
    State state = state(claim);
    check(
        owned && state.renewed() && state.awaited() == database.settings().notifies() && running,
        ("the functions %s.renew_leases and in_flight have no effect; they must be those of the"
                + " library's migrations")
            .formatted(database.settings().schema()));
  }

  private boolean isRunning(IdempotencyKey key) {
    Map<Long, IdempotencyKey> operation = Map.of(LockId.of(key), key);
    return database.onConnection(
        connection ->
            !PostgresCompletionWatch.running(
                    Jdbi.open(connection), load("maintenance/in_flight"), operation)
                .isEmpty());
  }

  private void withHandle(Consumer<Handle> work) {
    boolean unused =
        database.onConnection(
            connection -> {
              work.accept(Jdbi.open(connection));
              return true;
            });
  }

  /**
   * Claims the same key on another thread, and so on another connection of the service's pool, and
   * checks that the claim is refused, and that callers that do not claim are told of the running
   * call. Logs a warning if there is no other connection.
   */
  private void checkDuplicates(ClaimRequest request) {
    FutureTask<Seen> duplicate =
        new FutureTask<>(
            () -> {
              ClaimResult result = claiming.apply(request);
              if (result instanceof ClaimResult.Won won) {
                won.claim().close();
              }
              return new Seen(result, isRunning(request.key()));
            });
    DaemonThreads.named("idempotency-probe").newThread(duplicate).start();
    try {
      Seen seen = duplicate.get(MAX_WAIT.toMillis(), TimeUnit.MILLISECONDS);
      check(
          seen.result() instanceof ClaimResult.InFlight,
          "an advisory lock does not keep duplicates of transactional calls out: two connections of"
              + " the service's pool could hold the same lock at the same time. Check that no"
              + " pooler pools statements. On a database without working advisory locks, procedures"
              + " cannot be transactional: set Execution.RESERVED");
      check(
          seen.running(),
          ("%s.in_flight returns false for a running trial call, because its advisory lock is not"
                  + " visible in pg_locks: grant SELECT on pg_locks to the owner of the function")
              .formatted(database.settings().schema()));
    } catch (ExecutionException failed) {
      if (!(failed.getCause() instanceof RuntimeException failure)) {
        throw new IllegalStateException(failed.getCause());
      }
      if (!causeOf(failure).isTemporary()) {
        throw failure;
      }
      warnOfNoSecondConnection();
    } catch (TimeoutException exhausted) {
      warnOfNoSecondConnection();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private static void warnOfNoSecondConnection() {
    logger.warn(
        "the service's pool gave no second connection in time, so the check could not show that"
            + " an advisory lock keeps duplicates of transactional calls out; give the pool at"
            + " least two connections, and one more for each concurrent transactional call");
  }

  private State state(Claim claim) {
    return run(
            "check/probe_state",
            claim.request(),
            values ->
                values
                    .bind("id", claim.operationId())
                    .bind("lease_millis", store.lease().toMillis()),
            row -> new State(row.getBoolean("renewed"), row.getBoolean("awaited")))
        .orElseThrow(() -> new UnexpectedResult("a trial call's own user does not see its record"));
  }

  private void forget(ClaimRequest request) {
    try {
      Optional<String> unused =
          run(
              "check/probe_forget",
              request,
              values -> values.bind("keys", keys.toArray(String[]::new)),
              row -> row.getString(1));
    } catch (JdbiException failure) {
      logger.debug("could not delete the record of a trial call, which expires by itself", failure);
    }
  }

  private <T> Optional<T> run(
      String statement,
      ClaimRequest request,
      UnaryOperator<Parameters> bindings,
      StatementBatch.RowReader<T> reader) {
    return database.onConnection(
        connection ->
            StatementBatch.run(
                connection,
                load(statement),
                values -> bindings.apply(values.bindOperation(request, UUID.randomUUID())),
                reader));
  }

  private String load(String statement) {
    return SqlFile.load(statement, Map.of("schema", database.settings().schema()));
  }

  /** Creates a request with a new key. */
  private ClaimRequest request() {
    return request(caller);
  }

  private ClaimRequest request(Caller caller) {
    IdempotencyKey key = new IdempotencyKey(caller, UUID.randomUUID().toString());
    keys.add(key.value());
    return ClaimRequest.of(key, PROCEDURE, NOTHING_ASKED).retainedFor(RETENTION);
  }

  private static void check(boolean proved, String problem) {
    if (!proved) {
      throw new UnexpectedResult(problem);
    }
  }

  private static FailureCause causeOf(RuntimeException failure) {
    if (failure instanceof StoreException given) {
      return given.failureCause();
    }
    return failure instanceof JdbiException thrown ? Failures.causeOf(thrown) : FailureCause.OTHER;
  }

  private static String reasonOf(RuntimeException failure) {
    Throwable origin = Throwables.getRootCause(failure);
    return String.valueOf(origin.getMessage()).lines().findFirst().orElse(origin.toString());
  }
}
