package io.github.grpcidempotency.postgres;

import com.google.common.base.Throwables;
import com.google.protobuf.ByteString;
import io.github.grpcidempotency.internal.decision.FailureDecider;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.Claim.Settled;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.RecordedProcedure;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.StoreTransaction;
import io.github.grpcidempotency.store.TransactionalStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.statement.UnableToExecuteStatementException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A trial call by the library, for a user that does not exist. It runs the statements of a real
 * call over every connection that they use:
 *
 * <ol>
 *   <li>Listen and notify, unless servers are told not to.
 *   <li>Read the time line, unless reservations are not bound to it.
 *   <li>Have a commit refused.
 *   <li>Reserve a key. Another user does not see it, and a duplicate learns that it runs.
 *   <li>Through the maintenance pool, renew its lease, announce that its end is awaited, and ask
 *       whether it runs. Through the store's pool, check the result.
 *   <li>Complete it, which removes the announcement, and replay it.
 *   <li>Reserve another key, and release it.
 *   <li>If a procedure is transactional: take an advisory lock. Claim a key with a transaction. A
 *       duplicate on another connection is kept out, or a lock on one of the maintenance pool's if
 *       the store's pool has no other. Whoever asks is told that it runs. Complete it, and replay
 *       it.
 *   <li>If one is claimed with its handler's first statement: send a statement with a claim.
 *       Complete it, and replay it. The statement of a duplicate does not run.
 * </ol>
 *
 * <p>It leaves no row. A row that a crash leaves behind expires after a minute.
 */
final class ProbeCall {
  private static final Logger logger = LoggerFactory.getLogger(ProbeCall.class);
  private static final Duration RETENTION = Duration.ofMinutes(1);

  /** How long to wait for a second connection; a pool of one connection never has one. */
  private static final Duration PATIENCE = Duration.ofSeconds(3);

  private static final RecordedProcedure PROCEDURE =
      new RecordedProcedure(
          "idempotency/probe", Optional.empty(), false, Optional.empty(), true, false);

  private static final Fingerprint NOTHING_ASKED =
      new Fingerprint(Fingerprinter.FIRST_VERSION, ByteString.EMPTY);

  private static final RecordedOutcome ANSWER =
      new RecordedOutcome.Response(ByteString.copyFromUtf8("a trial"), Optional.empty());

  private static final String BOTH_LOCKED =
      "%s hold one advisory lock at the same time, so nothing keeps a transactional call's duplicate"
          + " out; PostgreSQL itself, and a pooler that pools transactions or sessions, do not let"
          + " them; elsewhere, build the store with advisoryLocks(false)";

  private final TransactionalStore store;
  private final RecordDatabase database;
  private final Jdbi maintenance;
  private final boolean separateMaintenance;
  private final Caller caller = Caller.of(UUID.randomUUID());

  /** The keys of all trial calls, whose records have no index by their user. */
  private final List<String> keys = new ArrayList<>();

  /** How the trial call claims a key. */
  private Function<ClaimRequest, ClaimResult> claiming;

  /** The current step, for the error message. */
  private String step = "";

  /** A statement did not fail, but did not have the expected result. */
  private static final class Unproved extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Unproved(String problem) {
      super(problem);
    }
  }

  /** What the store's pool sees of the maintenance pool's changes. */
  private record State(boolean renewed, boolean awaited) {}

  ProbeCall(TransactionalStore store, RecordDatabase database, DataSource maintenance) {
    this.store = store;
    this.claiming = store::claim;
    this.database = database;
    this.maintenance = Jdbi.create(maintenance);
    this.separateMaintenance = maintenance != database.pool();
  }

  /**
   * Makes reserved calls, and returns what went wrong.
   *
   * @throws RuntimeException what the store threw, if that is nothing that lasts
   */
  List<String> problemsOfReservations() {
    claiming = store::claim;
    return Stream.of(
            problemOfNotifications(),
            problemOfTimeLine(),
            problemOfRefusals(),
            problemOf(this::completeReserved),
            problemOf(this::releaseReserved))
        .flatMap(Optional::stream)
        .toList();
  }

  /**
   * Makes a transactional call, and returns what went wrong.
   *
   * @throws RuntimeException what the store threw, if that is nothing that lasts
   */
  List<String> problemsOfTransactions() {
    claiming = store::claimInTransaction;
    return (database.locks() ? problemOfLocks() : Optional.<String>empty())
        .or(() -> problemOf(this::completeTransaction)).stream().toList();
  }

  /**
   * Makes a call that is claimed with its first statement, and returns what went wrong.
   *
   * @throws RuntimeException what the store threw, if that is nothing that lasts
   */
  List<String> problemsOfLateClaims() {
    claiming = store::claimInTransaction;
    return problemOf(this::completeLate).stream().toList();
  }

  private Optional<String> problemOfNotifications() {
    return database.notifies()
        ? refusal(
            () ->
                maintenance.useHandle(
                    handle -> PostgresCompletionWatch.tryListening(handle, database.schema())),
            "the maintenance pool's database has no LISTEN and pg_notify for its role (%s); build the"
                + " store with listen(false), and servers poll instead")
        : Optional.empty();
  }

  private Optional<String> problemOfTimeLine() {
    return database.timeLines()
        ? refusal(
            () -> {
              Optional<String> unused =
                  database.onConnection(
                      connection ->
                          StatementBatch.run(
                              connection,
                              load("check/time_line"),
                              values -> values,
                              row -> row.getString("time_line")));
            },
            "the database does not report its time line to the role of the store's pool (%s), by"
                + " which a reservation notices a failover; build the store with timeLines(false)")
        : Optional.empty();
  }

  private Optional<String> problemOfLocks() {
    return refusal(
        () -> {
          boolean unused = database.onConnection(connection -> locks(connection, request()));
        },
        "the database has no advisory locks for the role of the store's pool (%s), by which"
            + " transactional calls keep their duplicates out; build the store with"
            + " advisoryLocks(false)");
  }

  /** What a flush refuses must not be committed, and its SQLSTATE must say why. */
  private Optional<String> problemOfRefusals() {
    Map<String, String> values = new HashMap<>(Refusal.codes());
    values.put("schema", database.schema());
    String refuse = SqlFile.load("check/probe_refusal", values);
    try {
      Optional<Boolean> unused =
          database.onConnection(
              connection -> StatementBatch.run(connection, refuse, none -> none, row -> true));
    } catch (JdbiException failure) {
      if (FailureDecider.passes(Failures.causeOf(failure))) {
        throw failure;
      }
      if (Refusal.of(failure).filter(Refusal.CLAIM_LOST::equals).isPresent()) {
        return Optional.empty();
      }
    }
    return Optional.of(
        "%s.refuse_commit does not raise the SQLSTATE that it is given, so the transaction of a call that has lost its key would be committed"
            .formatted(database.schema()));
  }

  /** Tries something, and returns why it is refused for good. */
  private static Optional<String> refusal(Runnable trial, String problem) {
    try {
      trial.run();
      return Optional.empty();
    } catch (RuntimeException failure) {
      if (FailureDecider.passes(causeOf(failure))) {
        throw failure;
      }
      return Optional.of(problem.formatted(reasonOf(failure)));
    }
  }

  /** Returns whether an operation's advisory lock is free. */
  private boolean locks(Connection connection, ClaimRequest request) {
    return StatementBatch.run(
            connection,
            load("check/probe_lock"),
            values -> values.bind("lock", LockId.of(request.key())),
            row -> row.getBoolean("locked"))
        .orElseThrow();
  }

  private Optional<String> problemOf(Consumer<ClaimRequest> trial) {
    ClaimRequest request = request();
    try {
      trial.accept(request);
      return Optional.empty();
    } catch (Unproved unproved) {
      return Optional.ofNullable(unproved.getMessage());
    } catch (RuntimeException failure) {
      if (FailureDecider.passes(causeOf(failure))) {
        throw failure;
      }
      logger.debug("a trial call failed", failure);
      return Optional.of("a trial call fails to %s: %s".formatted(step, reasonOf(failure)));
    } finally {
      forget(request);
    }
  }

  private void completeReserved(ClaimRequest request) {
    Claim claim = win(request);
    checkHidden(claim);
    step = "meet a call in flight";
    check(
        store.claim(request) instanceof ClaimResult.InFlight,
        "a trial call that runs does not keep its duplicate out");
    checkMaintenance(claim);
    complete(claim);
    check(!state(claim).awaited(), "a trial call's end wakes nobody who waits for it");
  }

  private void releaseReserved(ClaimRequest request) {
    Claim claim = win(request);
    step = "release its key";
    check(claim.release() == Settled.DONE, "a trial call's key is not released");
  }

  private void completeTransaction(ClaimRequest request) {
    Claim claim = win(request);
    try {
      step = "keep its duplicate out";
      if (database.locks() && keepsOutBeside(request)) {
        step = "see that it runs";
        checkShown(request);
      }
      complete(claim);
    } catch (RuntimeException failure) {
      letGo(claim);
      throw failure;
    }
  }

  private void completeLate(ClaimRequest request) {
    step = "claim a key with a statement";
    Claim claim = store.claimLater(request);
    try {
      check(runs(claim) && claim.confirm(), "a trial call's statement does not claim its key");
      complete(claim);
    } catch (RuntimeException failure) {
      claim.transaction().ifPresent(StoreTransaction::rollback);
      throw failure;
    }
    step = "stop a duplicate at its first statement";
    Claim duplicate = store.claimLater(request);
    try {
      check(!runs(duplicate), "the first statement of a trial call's duplicate runs");
    } finally {
      duplicate.transaction().ifPresent(StoreTransaction::rollback);
    }
  }

  /** Runs a claim's first statement, and returns whether it was won with it. */
  private static boolean runs(Claim claim) {
    Optional<Connection> connection =
        claim
            .transaction()
            .filter(HandlerTransaction.class::isInstance)
            .map(transaction -> ((HandlerTransaction) transaction).connection());
    try (PreparedStatement statement = connection.orElseThrow().prepareStatement("SELECT 1")) {
      return statement.execute() && claim.isWon();
    } catch (ClaimPreemptedException preempted) {
      throwIfCutOff(preempted);
      return false;
    } catch (SQLException failure) {
      throw new UnableToExecuteStatementException(failure, null);
    }
  }

  /** A broken connection preempts a claim as well, and proves nothing. */
  private static void throwIfCutOff(ClaimPreemptedException preempted) {
    if (preempted.getCause() instanceof SQLException failure) {
      JdbiException cut = new UnableToExecuteStatementException(failure, null);
      if (Failures.isCutOff(cut)) {
        throw cut;
      }
    }
  }

  private Claim win(ClaimRequest request) {
    step = "claim a key";
    if (claiming.apply(request) instanceof ClaimResult.Won won) {
      return won.claim();
    }
    throw new Unproved("a trial call does not win a key that nobody holds");
  }

  private void complete(Claim claim) {
    step = "record its answer";
    check(claim.complete(ANSWER) == Settled.DONE, "a trial call's answer is not recorded");
    step = "replay its answer";
    check(
        claiming.apply(claim.request()) instanceof ClaimResult.Recorded recorded
            && recorded.outcome().equals(ANSWER),
        "a trial call's recorded answer is not replayed");
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
        "row-level security shows a user's record to another user; is there a policy on"
            + " %s.idempotency_keys beside the library's own?".formatted(database.schema()));
  }

  /** Checks what is done for all users at once, and whether the store's pool sees the result. */
  private void checkMaintenance(Claim claim) {
    step = "renew its lease through the maintenance pool";
    boolean owned = store.renew(List.of(claim)).contains(claim.operationId());
    step = "announce through the maintenance pool that its end is awaited";
    if (database.notifies()) {
      maintenance.useHandle(handle -> announce(handle, claim.request().key()));
    }
    step = "ask through the maintenance pool whether it runs";
    boolean running = maintenance.withHandle(handle -> isRunning(handle, claim.request().key()));
    step = "check what the maintenance pool has done";
    State state = state(claim);
    check(
        owned && state.renewed() && state.awaited() == database.notifies() && running,
        "the store's pool does not see what the maintenance pool does; both must lead to one"
            + " database, and %s.renew_leases and in_flight must be the library's own"
                .formatted(database.schema()));
  }

  private void announce(Handle handle, IdempotencyKey key) {
    handle
        .createUpdate(load("maintenance/announce_waits"))
        .bindArray("locks", Long.class, List.of(LockId.of(key)))
        .execute();
  }

  private boolean isRunning(Handle handle, IdempotencyKey key) {
    return handle
        .createQuery(load("maintenance/in_flight"))
        .bindArray("keys", String.class, List.of(key.stored()))
        .bindArray("users", UUID.class, List.of(key.caller().userId()))
        .bindArray("locks", Long.class, List.of(LockId.of(key)))
        .mapTo(Long.class)
        .findOne()
        .isPresent();
  }

  /** Whoever asks, but claims nothing, would be told that nobody runs the call. */
  private void checkShown(ClaimRequest request) {
    check(
        maintenance.withHandle(handle -> isRunning(handle, request.key())),
        ("a trial call's advisory lock is not in pg_locks, or %s.in_flight does not see it there, so"
                + " who asks whether it runs is told that it does not; build the store with"
                + " advisoryLocks(false)")
            .formatted(database.schema()));
  }

  /**
   * Claims the same key on another connection of the store's pool; if there is none, only tries its
   * lock on one of the maintenance pool's. Returns whether there was any other connection.
   */
  private boolean keepsOutBeside(ClaimRequest request) {
    CompletableFuture<ClaimResult> duplicate = new CompletableFuture<>();
    Thread second = new Thread(() -> claim(request, duplicate), "idempotency-probe");
    second.setDaemon(true);
    second.start();
    try {
      check(
          duplicate.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS) instanceof ClaimResult.InFlight,
          BOTH_LOCKED.formatted("two connections of the store's pool"));
      return true;
    } catch (TimeoutException exhausted) {
      return keepsOutOfMaintenance(request);
    } catch (ExecutionException failed) {
      if (!(failed.getCause() instanceof StoreException failure)) {
        throw new IllegalStateException(failed.getCause());
      }
      if (!FailureDecider.passes(failure.failureCause())) {
        throw failure;
      }
      return keepsOutOfMaintenance(request);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private boolean keepsOutOfMaintenance(ClaimRequest request) {
    if (!separateMaintenance) {
      logger.warn(
          "the store's pool gave no second connection in time: it is not proved that an advisory"
              + " lock keeps a transactional call's duplicate out");
      return false;
    }
    boolean locked = maintenance.withHandle(handle -> locks(handle.getConnection(), request));
    check(
        !locked,
        BOTH_LOCKED.formatted(
            "a connection of the store's pool and one of the maintenance pool's"));
    return true;
  }

  private void claim(ClaimRequest request, CompletableFuture<ClaimResult> duplicate) {
    try {
      ClaimResult result = claiming.apply(request);
      duplicate.complete(result);
      if (result instanceof ClaimResult.Won won) {
        letGo(won.claim());
      }
    } catch (RuntimeException failure) {
      duplicate.completeExceptionally(failure);
    }
  }

  private static void letGo(Claim claim) {
    try {
      Settled unused = claim.release();
    } catch (RuntimeException failure) {
      logger.debug("a trial call's transaction could not be ended", failure);
    }
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
        .orElseThrow(() -> new Unproved("a trial call's record is not seen by its own user"));
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
      logger.debug("a trial call's record is left to expire", failure);
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
                values ->
                    bindings.apply(OperationParameters.of(values, request, UUID.randomUUID())),
                reader));
  }

  private String load(String statement) {
    return SqlFile.load(statement, Map.of("schema", database.schema()));
  }

  /** Makes a request with a new key, whose end is awaited. */
  private ClaimRequest request() {
    IdempotencyKey key = new IdempotencyKey(caller, UUID.randomUUID().toString());
    keys.add(key.stored());
    return new ClaimRequest(key, PROCEDURE, NOTHING_ASKED, RETENTION);
  }

  private static void check(boolean proved, String problem) {
    if (!proved) {
      throw new Unproved(problem);
    }
  }

  private static FailureCause causeOf(RuntimeException failure) {
    if (failure instanceof StoreException given) {
      return given.failureCause();
    }
    return failure instanceof JdbiException thrown ? Failures.causeOf(thrown) : FailureCause.OTHER;
  }

  /** Returns the first line of the root cause's message. */
  private static String reasonOf(RuntimeException failure) {
    Throwable origin = Throwables.getRootCause(failure);
    return String.valueOf(origin.getMessage()).lines().findFirst().orElse(origin.toString());
  }
}
