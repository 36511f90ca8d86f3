package io.github.grpcidempotency.postgres.internal.check;

import static java.util.Objects.requireNonNull;

import com.google.common.base.Throwables;
import com.google.protobuf.ByteString;
import io.github.grpcidempotency.background.DaemonThreads;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.migration.SchemaObjects;
import io.github.grpcidempotency.postgres.internal.operation.PostgresCompletionWatch;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.Parameters;
import io.github.grpcidempotency.postgres.internal.sql.SqlFiles;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.Claim.Settled;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.ClaimResult.InFlight;
import io.github.grpcidempotency.spi.ClaimResult.Recorded;
import io.github.grpcidempotency.spi.ClaimResult.Won;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.spi.TransactionalStore;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jdbi.v3.core.JdbiException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A trial call at start-up, for a user that does not exist. It finds what would lose protection,
 * show records to other users, or fail every call:
 *
 * <ol>
 *   <li>Listen and notify, unless servers are told not to.
 *   <li>Read the time line, unless reservations are not bound to it.
 *   <li>Check that a refused commit fails.
 *   <li>Reserve a key. Check that another user does not see the record, that a duplicate is in
 *       flight, and that the lease can be renewed. Complete the call, and replay it.
 *   <li>If a procedure is transactional: claim a key with a transaction, which takes an advisory
 *       lock. Check that a claim on another connection is refused, and that {@code in_flight}
 *       reports the call. Complete it, and replay it.
 * </ol>
 *
 * <p>The trial call deletes its row. After a crash, the row expires within a minute.
 */
final class ProbeCall {
  private static final Logger logger = LoggerFactory.getLogger(ProbeCall.class);

  private static final RecordedProcedure PROCEDURE =
      RecordedProcedure.of(
          Procedure.named("idempotency/probe").attach(Duration.ofMinutes(1)).build());

  private static final RecordedOutcome ANSWER =
      new RecordedOutcome.Response(ByteString.copyFromUtf8("a trial"), Optional.empty());

  private final TransactionalStore store;
  private final RecordDatabase database;
  private final String schema;
  private final List<String> problems = new ArrayList<>();

  private final ClaimRequest request =
      ClaimRequest.of(
              new IdempotencyKey(Caller.of(UUID.randomUUID()), UUID.randomUUID().toString()),
              PROCEDURE,
              new Fingerprint(Fingerprinter.FIRST_VERSION, ByteString.EMPTY))
          .retainedFor(Duration.ofMinutes(1));

  /** The current step, for the error message. */
  private String step = "";

  /** A statement succeeded without the expected result. */
  private static final class UnexpectedResult extends RuntimeException {
    private static final long serialVersionUID = 1L;

    UnexpectedResult(String problem) {
      super(problem);
    }
  }

  ProbeCall(TransactionalStore store, RecordDatabase database) {
    this.store = store;
    this.database = database;
    this.schema = database.settings().schema();
  }

  /** Makes a reserved call, and returns the problems. Rethrows what is temporary. */
  List<String> problemsOfReservations() {
    if (database.settings().notifies()) {
      attempt(
          "use LISTEN and pg_notify",
          "; build the store with listen(false), so that servers poll instead",
          this::listen);
    }
    if (database.settings().timeLines()) {
      attempt(
          "read the database's time line, by which a failover during a call is detected",
          "; grant EXECUTE on pg_walfile_name and pg_current_wal_lsn to the role of the store's"
              + " pool, or build the store with timeLines(false)",
          () -> run("check/time_line", values -> values));
    }
    attempt("refuse a commit", ". " + SchemaObjects.remedy(schema), this::refuseCommit);
    return problemsOf(this::completeReserved);
  }

  /** Makes a transactional call, and returns the problems. Rethrows what is temporary. */
  List<String> problemsOfTransactions() {
    return problemsOf(this::completeTransaction);
  }

  private List<String> problemsOf(Runnable call) {
    try {
      attempt("claim a key", "", call);
    } finally {
      forget();
    }
    return problems;
  }

  /** Runs a trial, and adds its problem if it fails permanently. */
  private void attempt(String firstStep, String remedy, Runnable trial) {
    step = firstStep;
    try {
      trial.run();
    } catch (UnexpectedResult unexpected) {
      problems.add(String.valueOf(unexpected.getMessage()));
    } catch (RuntimeException failure) {
      if (causeOf(failure).isTemporary()) {
        throw failure;
      }
      logger.debug("a trial call failed", failure);
      problems.add(
          "a trial call of the start-up check could not %s: %s%s"
              .formatted(
                  step,
                  reasonOf(failure),
                  Failures.lacksLibrary(failure)
                      ? ". Repair the installation of PostgreSQL on the database's machine, which"
                          + " lacks this file. The schema is not damaged"
                      : remedy));
    }
  }

  private void listen() {
    boolean unused =
        database.onConnection(
            connection -> {
              PostgresCompletionWatch.tryListening(connection, schema);
              return true;
            });
  }

  /** Checks that a refused flush is not committed, and that its SQLSTATE names the reason. */
  private void refuseCommit() {
    try {
      run("check/probe_refusal", values -> values);
    } catch (JdbiException failure) {
      if (Failures.isClaimLost(failure)) {
        return;
      }
      throw failure;
    }
    throw new UnexpectedResult(
        schema
            + ".refuse_commit raises no error, so the transaction of a call that has lost its key"
            + " would be committed. "
            + SchemaObjects.remedy(schema));
  }

  private void completeReserved() {
    try (Claim claim = win(store::claim)) {
      step = "look for its key as another user";
      UUID foreigner = UUID.randomUUID();
      check(
          !finds(
              "check/probe_foreign",
              values -> values.bind("id", claim.operationId()).bind("user", foreigner.toString())),
          "row-level security shows a user's record to another user; drop the policies on"
              + " %s.idempotency_keys that the library did not create");
      step = "detect a running call";
      check(isDuplicateRefused(), "a duplicate of a running trial call was not refused");
      step = "renew its lease";
      check(
          store.renew(List.of(claim)).contains(claim.operationId()),
          "the function %s.renew_leases has no effect. " + SchemaObjects.remedy(schema));
      complete(claim, store::claim);
    }
  }

  private void completeTransaction() {
    try (Claim claim = win(store::claimInTransaction)) {
      step = "refuse its duplicate";
      check(
          onAnotherThread(
              () ->
                  store
                          .find(request.key(), PROCEDURE)
                          .filter(InFlight.class::isInstance)
                          .isPresent()
                      && isDuplicateRefused()),
          "advisory locks do not keep duplicates of transactional calls out, or %s.in_flight does"
              + " not see them in pg_locks. Check that no pooler pools statements, and that the"
              + " owner of the function may read pg_locks. On a database without working advisory"
              + " locks, procedures cannot be transactional: set Execution.RESERVED");
      complete(claim, store::claimInTransaction);
    }
  }

  /** The thread of a transaction asks for no other connection. */
  private static boolean onAnotherThread(Supplier<Boolean> trial) {
    try {
      return CompletableFuture.supplyAsync(trial, DaemonThreads.pool()).join();
    } catch (CompletionException failed) {
      Throwables.throwIfUnchecked(requireNonNull(failed.getCause()));
      throw failed;
    }
  }

  private boolean isDuplicateRefused() {
    ClaimResult result = store.claim(request);
    if (result instanceof Won won) {
      won.claim().close();
    }
    return result instanceof InFlight;
  }

  private Claim win(Function<ClaimRequest, ClaimResult> claiming) {
    if (claiming.apply(request) instanceof Won won) {
      return won.claim();
    }
    throw new UnexpectedResult("a trial call did not win a key that no other call holds");
  }

  private void complete(Claim claim, Function<ClaimRequest, ClaimResult> claiming) {
    step = "record its answer";
    check(claim.complete(ANSWER) == Settled.DONE, "the answer of a trial call was not recorded");
    step = "replay its answer";
    check(
        claiming.apply(request) instanceof Recorded recorded && recorded.outcome().equals(ANSWER),
        "the recorded answer of a trial call was not replayed");
  }

  private void forget() {
    try {
      run("check/probe_forget", values -> values.bindOperation(request, UUID.randomUUID()));
    } catch (JdbiException failure) {
      logger.debug("could not delete the record of a trial call, which expires by itself", failure);
    }
  }

  /** Runs statements, and returns whether the last one finds a row. */
  private boolean finds(String statements, UnaryOperator<Parameters> bindings) {
    return database.onConnection(
        connection ->
            StatementBatch.run(connection, load(statements), bindings, row -> true).isPresent());
  }

  private void run(String statements, UnaryOperator<Parameters> bindings) {
    finds(statements, bindings);
  }

  private String load(String statement) {
    return SqlFiles.of(schema).load(statement);
  }

  /** Fails unless a result is as expected. */
  private void check(boolean expected, String problem) {
    if (!expected) {
      throw new UnexpectedResult(problem.formatted(schema));
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
