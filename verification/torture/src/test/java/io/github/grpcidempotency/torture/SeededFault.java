package io.github.grpcidempotency.torture;

import static io.github.grpcidempotency.torture.Mutant.Edit.handlers;
import static io.github.grpcidempotency.torture.Mutant.Edit.interceptor;
import static io.github.grpcidempotency.torture.Mutant.Edit.operations;
import static io.github.grpcidempotency.torture.Mutant.Edit.sql;
import static io.github.grpcidempotency.torture.Mutant.Edit.store;
import static io.github.grpcidempotency.torture.Seed.breaking;

import io.github.grpcidempotency.torture.Mutant.Edit;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Faults that the library could have, each with what brings it to light and the rule it breaks. */
enum SeededFault {
  /** A completion does not ask whose the record is now. */
  NO_FENCE(
      breaking(Rule.ONE_EFFECT, Rule.RECORD_STANDS)
          .of(Form.JOINED)
          .by(sql("settle/update", "AND k.attempt = :attempt AND k.completed IS NULL", ""))
          .during(FaultKind.STOP)),

  /** A handler that was overtaken commits all the same, by itself or together with its record. */
  IGNORED_FENCE(
      breaking(Rule.ONE_EFFECT)
          .of(Form.JOINED)
          .by(sql("settle/join", "WHERE NOT EXISTS (SELECT FROM done)", "WHERE false"))
          .during(FaultKind.STOP)),

  /** A server that was overtaken sends its own answer. */
  ZOMBIE_ANSWERS(
      breaking(Rule.ONE_ANSWER, Rule.ANSWER_IS_RECORDED)
          .of(Form.RESERVED)
          .by(
              interceptor(
                  "internal/settling/Settler",
                  "return settle(operation, settlement, () -> record(operation, answer));",
                  "      return settle(operation, settlement, () -> record(operation, answer))"
                      + " == Settled.ROLLED_BACK\n"
                      + "          ? Settled.ROLLED_BACK\n"
                      + "          : Settled.DONE;"))
          .during(FaultKind.STOP)),

  /** A handler whose commit was not answered has its completed record deleted. */
  RELEASE_AFTER_UNKNOWN_COMMIT(
      breaking(Rule.ONE_EFFECT, Rule.RECORD_STANDS)
          .of(Form.JOINED)
          .by(sql("settle/release", "AND k.completed IS NULL", ""))
          .during(FaultKind.CUT_AFTER)),

  /** An answer that could not be recorded at once is forgotten, and its key freed. */
  LATE_RECORDER_RELEASES(
      breaking(Rule.NO_UNEXPLAINED_EFFECT)
          .of(Form.RESERVED)
          .by(
              interceptor(
                  "internal/settling/LateSettler",
                  "Settler.record(operation, outcome)",
                  "claim.release()"))
          .during(FaultKind.CUT_BEFORE)
          .cutting(Plan.COMPLETION)),

  /** Whether a lease has ended is told by a server's clock; one server's is an hour ahead. */
  SERVER_CLOCK(
      breaking(Rule.NO_UNEXPLAINED_EFFECT)
          .of(Form.RESERVED)
          .by(
              store(
                  "internal/sql/Parameters",
                  ".bind(\"id\", id)",
                  ".bind(\"id\", id).bind(\"server_now\", java.time.OffsetDateTime.now()"
                      + ".plusSeconds(Integer.getInteger(\"torture.skew\", 0)))"),
              store(
                  "internal/sql/RecordRow",
                  "leaseLeft.isZero()",
                  "(leaseLeft.compareTo(Duration.ofSeconds(Integer.getInteger(\"torture.skew\","
                      + " 0))) <= 0)"),
              sql(
                  "claim/take_over",
                  "k.lease_expires <= now()",
                  "k.lease_expires <= :server_now"))),

  /** A reservation is taken over although its owner is alive. */
  TAKEOVER_OF_THE_LIVING(
      breaking(Rule.NO_UNEXPLAINED_EFFECT)
          .of(Form.RESERVED)
          .by(
              sql("claim/take_over", "AND k.lease_expires <= now()", ""),
              store("internal/sql/RecordRow", "!ended && leaseLeft.isZero()", "!ended"))),

  /** A reservation is never taken over. */
  ENDLESS_LEASE(
      breaking(Rule.KEY_USABLE)
          .of(Form.JOINED)
          .by(sql("claim/take_over", "k.lease_expires <= now()", "false"))
          .during(FaultKind.KILL)),

  /** A key that was used for another request is answered with its answer. */
  NO_HASH_CHECK(
      breaking(Rule.NO_MISMATCH_ANSWERED)
          .of(Form.JOINED)
          .by(
              interceptor(
                  "internal/decision/ClaimDecider",
                  "case OTHER -> Optional.of(new Decision.Refuse(Refusal.reused(\"request\")));",
                  "case OTHER -> Optional.empty();"))),

  /** Nothing but the look at the record keeps two transactions apart. */
  NO_LOCK_AND_NO_UNIQUE_KEY(
      breaking(Rule.ONE_EFFECT)
          .of(Form.TRANSACTIONAL)
          .by(sql("transaction/claim", "pg_try_advisory_xact_lock(:lock)", "true"))
          .after("ALTER TABLE idempotency.idempotency_keys DROP CONSTRAINT idempotency_keys_key")),

  /** The client is answered first, and the answer recorded then. */
  ANSWER_BEFORE_RECORD(
      breaking(Rule.ANSWER_HAS_EFFECT, Rule.ANSWER_IS_RECORDED)
          .of(Form.TRANSACTIONAL)
          .by(
              interceptor(
                  "call/internal/KeyedRun",
                  "Runnable settle(Answer answer) { try {",
                  """
                  Runnable settle(Answer answer) {
                    if (answer.response().isPresent()) {
                      sending(answer, true).run();
                      try {
                        var unused = record(answer);
                      } catch (StoreException | TransactionMisuseException unrecorded) {
                        return () -> {};
                      }
                      return () -> {};
                    }
                    try {
                  """))
          .during(FaultKind.CUT_BEFORE)),

  /** A record is treated as expired as soon as it is complete. */
  EXPIRED_AT_ONCE(
      breaking(Rule.RECORD_STANDS, Rule.ONE_EFFECT)
          .of(Form.JOINED)
          .by(
              store("internal/sql/RecordRow", "!expires.isAfter(read) && (ended", "(ended"),
              sql("claim/delete_expired", "AND k.expires <= now()", ""))),

  /** Neither the statement nor row-level security asks whose the record is. */
  NO_USER(
      breaking(Rule.NO_STRANGER_ANSWERED, Rule.NO_FALSE_REFUSAL)
          .of(Form.JOINED)
          .by(sql("claim/select_record", "${same_key}", "k.idempotency_key = :key"))
          .after(
              """
              DROP POLICY own_rows ON idempotency.idempotency_keys;
              CREATE POLICY own_rows ON idempotency.idempotency_keys FOR ALL USING (true);
              """)),

  /** Neither the sweep nor row-level security asks whether a record has expired. */
  GREEDY_SWEEP(
      breaking(Rule.RECORD_STANDS)
          .of(Form.JOINED)
          .after(
              """
              CREATE OR REPLACE FUNCTION idempotency.sweep_expired(batch integer) RETURNS integer
                LANGUAGE sql VOLATILE SECURITY DEFINER
              AS $$
                WITH swept AS (
                  DELETE FROM idempotency.idempotency_keys WHERE completed IS NOT NULL RETURNING 1
                )
                SELECT count(*)::integer FROM swept
              $$;
              ALTER POLICY maintenance ON idempotency.idempotency_keys USING (true);
              """)),

  /** A row with a claim's own id is its own, whoever has taken it over since. */
  OWN_ROW_WHATEVER_ITS_ATTEMPT(
      breaking(Rule.NO_UNEXPLAINED_EFFECT, Rule.ONE_ANSWER, Rule.ANSWER_IS_RECORDED)
          .of(Form.RESERVED)
          .by(
              store(
                  "internal/claim/ReservationAttempt",
                  "ids.contains(row.id()) && row.isUntouched()",
                  "ids.contains(row.id())"),
              store(
                  "internal/claim/ReservationAttempt",
                  "own.sent().filter(sent -> !isLate(sent)).isPresent()",
                  "true"))
          .during(FaultKind.SWALLOW_CLAIM)
          .running(
              plan ->
                  plan.calling(32)
                      .pausing(Duration.ofMillis(400))
                      .mixing(new Plan.Mix(10, 0, 0, 0)))),

  /** A record that was read is run again, unguarded, if its retention cannot be extended. */
  UNGUARDED_AFTER_FAILED_RETENTION(
      breaking(Rule.NO_UNGUARDED_EFFECT)
          .of(Form.FAIL_OPEN)
          .by(
              interceptor(
                  "internal/engine/Engine",
                  "return older.isPresent() ? claim(request.procedure(), older.get()) : met;",
                  """
                        if (met instanceof ClaimResult.Recorded read
                            && request.procedure().retainedFromLastReplay()) {
                          try {
                            store.retain(request.claimRequest(), read);
                          } catch (StoreException failed) {
                            throw StoreException.of(io.github.grpcidempotency.spi.FailurePhase.NOTHING_SENT, io.github.grpcidempotency.store.FailureCause.NO_CONNECTION, "could not retain").initCause(failed);
                          }
                        }
                        return met;
                  """))
          .during(FaultKind.CUT_BEFORE)
          .cutting(Plan.RETENTION)),

  /** Whatever is an {@code IllegalStateException} counts as the handler's misuse. */
  ILLEGAL_STATE_IS_MISUSE(
      breaking(Rule.NO_UNEXPLAINED_EFFECT)
          .of(Form.RESERVED)
          .by(
              interceptor(
                  "internal/settling/Settler",
                  "catch (StoreException | TransactionMisuseException foreseen)",
                  "catch (StoreException | TransactionMisuseException | IllegalStateException"
                      + " foreseen)"),
              interceptor(
                  "internal/settling/Settler",
                  "} catch (TransactionMisuseException misuse) { end(operation, settlement,",
                  "    } catch (TransactionMisuseException | IllegalStateException misuse) {\n"
                      + "      end(operation, settlement,"))
          .running(plan -> plan.living(ServerLife.ordinary().with(Dimension.POOL_DEFECTS, "50")))),

  /** A transaction's failure is not recorded where an expired record stands. */
  FAILURE_LOST_OVER_AN_EXPIRED_RECORD(
      breaking(Rule.FAILURE_STANDS)
          .of(Form.TRANSACTIONAL)
          .by(
              sql("transaction/record_failure", "k.id = :cleared", "k.id = :cleared AND false"),
              interceptor(
                  "internal/settling/Settler",
                  "? persist(operation, settlement, record.get())",
                  "? (persist(operation, settlement, record.get()) == null ? null : Settled.DONE)"))
          .running(plan -> plan.mixing(new Plan.Mix(0, 0, 100, 100)))),

  /** A handler that has lost its claim answers what it makes of that. */
  LOST_CLAIM_IS_ANSWERED(
      breaking(Rule.LOST_CLAIM_IS_REFUSED)
          .of(Form.JOINED)
          .by(
              interceptor(
                  "internal/settling/Settler",
                  "return settled == Settled.LOST || settled == Settled.PREEMPTED ? settled : Settled.DONE;",
                  "return settled == Settled.PREEMPTED ? settled : Settled.DONE;"))
          .during(FaultKind.STOP)),

  /** A call is given up although its client waits for the answer. */
  GIVEN_UP_WHILE_IT_RUNS(
      breaking(Rule.NO_UNEXPLAINED_EFFECT)
          .of(Form.RESERVED)
          .by(
              interceptor(
                  "internal/settling/RunningCalls",
                  "boolean over = call.isOver();",
                  """
                  if (call != null) {
                    return true;
                  }
                  boolean over = call.isOver();
                  """))),

  /** A handler that runs for longer than its client waits is given up, and its key freed. */
  GIVEN_UP_AFTER_ITS_CLIENT(
      breaking(Rule.NO_UNEXPLAINED_EFFECT)
          .of(Form.RESERVED)
          .by(
              interceptor(
                  "internal/settling/RunningCalls",
                  "if (!over || !call.hasReturned()) {",
                  "if (!over) {"),
              interceptor(
                  "internal/settling/RunningCalls",
                  "if (!state.over || call.isAwaited()) {",
                  "if (!state.over) {"))
          .running(plan -> plan.calling(16).mixing(new Plan.Mix(80, 0, 0, 0).hurrying(70)))),

  /** An error that the function of the resource throws ends the settlement. */
  RESOURCE_ERROR_ENDS_THE_SETTLEMENT(
      breaking(Rule.NO_UNEXPLAINED_EFFECT)
          .of(Form.RESERVED)
          .by(
              interceptor(
                  "internal/settling/OwnedClaim",
                  "} catch (Throwable wrong) { warnOfMissingId(",
                  "    } catch (RuntimeException wrong) {\n      warnOfMissingId("))
          .running(
              plan -> plan.living(ServerLife.ordinary().with(Dimension.RESOURCE_ERRORS, "50")))),

  /** The store has no connections of its own, and handlers hold theirs after they have answered. */
  STORE_WAITS_FOR_HANDLERS(
      breaking(Rule.NO_UNEXPLAINED_EFFECT)
          .of(Form.RESERVED)
          .by(
              handlers(
                  "TortureServer",
                  "store(ofStore, connections, host.transactions())",
                  "store(ofStore, pool, host.transactions())"))
          .running(
              plan ->
                  plan.calling(16)
                      .mixing(new Plan.Mix(0, 0, 0, 0).behaving(Map.of(Manner.HOLDING, 90)))
                      .living(
                          ServerLife.ordinary()
                              .with(Dimension.POOL_SIZE, "4")
                              .with(Dimension.CONNECTION_TIMEOUT, "4000")))),

  /** A claim whose answer took longer than its lease counts as won. */
  LATE_CLAIM_WINS(
      breaking(Rule.NO_UNEXPLAINED_EFFECT)
          .of(Form.RESERVED)
          .by(
              store(
                  "internal/claim/ReservationAttempt",
                  "own.sent().filter(sent -> !isLate(sent)).isPresent()",
                  "own.sent().isPresent()"))
          .during(FaultKind.SWALLOW_CLAIM)
          .running(
              plan ->
                  plan.calling(32)
                      .pausing(Duration.ofMillis(400))
                      .mixing(new Plan.Mix(10, 0, 0, 0)))),

  /** The failure of the last host of a URL counts as the failure of all hosts. */
  OPEN_ON_THE_LAST_HOST(
      breaking(Rule.NO_UNGUARDED_EFFECT)
          .of(Form.FAIL_OPEN)
          .by(
              store(
                  "internal/database/Outage",
                  "Failures.mayBeOutage(failure) && isProven()",
                  "Failures.mayBeOutage(failure)"))
          .during(FaultKind.REFUSE_LOGINS)
          .running(
              plan ->
                  plan.living(
                      ServerLife.ordinary()
                          .with(Dimension.HOSTS, "2")
                          .with(Dimension.CONNECTION_TIMEOUT, "1000")))),

  /** The connection of a handler that is given up goes back to its pool as it is. */
  GIVEN_UP_AND_GIVEN_BACK(
      breaking(Rule.CONNECTION_RETURNED_CLEAN)
          .of(Form.TRANSACTIONAL)
          .by(
              store(
                  "internal/transaction/OpenTransaction",
                  "} else if (!over.getAndSet(true)) { abort();",
                  "    } else if (!over.getAndSet(true)) {"))
          .running(
              plan -> plan.mixing(new Plan.Mix(0, 0, 0, 0).behaving(Map.of(Manner.NEVER, 8))))),

  /** A pool without a free connection counts as an outage of the store. */
  OPEN_ON_AN_EXHAUSTED_POOL(
      breaking(Rule.NO_UNGUARDED_EFFECT)
          .of(Form.FAIL_OPEN)
          .by(
              interceptor(
                  "internal/decision/FailureDecider",
                  "cause == FailureCause.NO_CONNECTION",
                  "(cause == FailureCause.NO_CONNECTION || cause == FailureCause.POOL_EXHAUSTED)"),
              handlers(
                  "TortureServer",
                  "store(ofStore, connections, host.transactions())",
                  "store(ofStore, pool, host.transactions())"))
          .during(FaultKind.EXHAUST)
          .running(
              plan ->
                  plan.living(ServerLife.ordinary().with(Dimension.CONNECTION_TIMEOUT, "300")))),

  /** A claim whose answer was lost counts as one that was never sent. */
  OPEN_ON_A_LOST_ANSWER(
      breaking(Rule.NO_UNGUARDED_EFFECT)
          .of(Form.FAIL_OPEN)
          .by(
              interceptor(
                  "internal/decision/FailureDecider",
                  "cause == FailureCause.NO_CONNECTION",
                  "(cause == FailureCause.NO_CONNECTION || cause == FailureCause.CONNECTION_LOST)"),
              store(
                  "internal/claim/ReservationAttempt",
                  "if (!Failures.isCutOff(failure)) {",
                  "        if (failure != null) {"))
          .during(FaultKind.CUT_AFTER)
          .cutting(Plan.RESERVATION)),

  /** A server without connections does not ask itself what it runs. */
  OPEN_BESIDE_ITS_OWN_HOLDER(
      breaking(Rule.NO_UNGUARDED_EFFECT_BESIDE_A_HOLDER)
          .of(Form.FAIL_OPEN)
          .by(interceptor("internal/engine/Engine", "if (own.isPresent()) {", "if (false) {"))
          .during(FaultKind.REFUSE)
          .running(
              plan ->
                  plan.calling(32)
                      .leasing(Duration.ofSeconds(2))
                      .mixing(new Plan.Mix(100, 0, 0, 0))
                      .living(ServerLife.ordinary().with(Dimension.CONNECTION_TIMEOUT, "300")))),

  /** A record is not looked for in a database that is read-only. */
  NO_LOOK_WHILE_READ_ONLY(
      breaking(Rule.REPLAYED_WHILE_READ_ONLY)
          .of(Form.FAIL_OPEN)
          .by(
              interceptor(
                  "store/FailureCause",
                  "case READ_ONLY, BROKEN -> nothingSent ? FailureRemedy.FIND",
                  "case READ_ONLY, BROKEN -> phase == null ? FailureRemedy.FIND"))
          .during(FaultKind.READ_ONLY)),

  /** What a listener throws reaches the lease keeper, which renews nothing from then on. */
  LEASE_KEEPER_DIES_OF_AN_ERROR(
      breaking(Rule.NO_UNEXPLAINED_EFFECT)
          .of(Form.RESERVED)
          .by(
              interceptor(
                  "internal/event/Listeners",
                  "catch (Throwable thrown)",
                  "catch (RuntimeException thrown)"),
              interceptor(
                  "internal/settling/LeaseKeeper",
                  "RepeatedTask.of(task, log, this::renew)",
                  """
                  RepeatedTask.of(
                      task,
                      log,
                      () -> {
                        listeners.emit(
                            Events.leasesRenewed(0, 0, Duration.ZERO, shard));
                        renew();
                      })\
                  """),
              new Edit(
                  "proto/src/main",
                  "java/io/github/grpcidempotency/background/RepeatedTask.java",
                  "} catch (Throwable thrown) {",
                  "    } catch (Exception thrown) {"))
          .running(
              plan -> plan.living(ServerLife.ordinary().with(Dimension.LISTENER_FAILURES, "20")))),

  /** A recording that the database refuses is tried again without growing pauses. */
  RECORDING_WITHOUT_PAUSES(
      breaking(Rule.RECORDING_PAUSES)
          .of(Form.RESERVED)
          .by(
              interceptor(
                  "internal/settling/LateSettler",
                  "Duration doubled = delay.multipliedBy(2);",
                  "Duration doubled = delay;"))
          .after(
              """
              CREATE FUNCTION torture.refuse_recording() RETURNS trigger
                LANGUAGE plpgsql SECURITY DEFINER
              AS $$
              BEGIN
                PERFORM nextval('torture.refused_recordings'); -- which no rollback takes back
                RAISE EXCEPTION 'not to be recorded' USING ERRCODE = 'check_violation';
              END;
              $$;
              CREATE TRIGGER refuse_recording BEFORE UPDATE ON idempotency.idempotency_keys
                FOR EACH ROW
                WHEN (OLD.completed IS NULL AND NEW.completed IS NOT NULL
                      AND NEW.procedure LIKE '%/Reserved')
                EXECUTE FUNCTION torture.refuse_recording();
              """)),

  /** A waiting call that an executor rejects is never answered. */
  WAITERS_LOST_ON_REJECTION(
      breaking(Rule.CALL_ENDS)
          .of(Form.JOINED_ATTACHED)
          .by(
              interceptor(
                  "internal/engine/Engines",
                  "new CallerRunsExecutor(settings.executor())",
                  "settings.executor()"))
          .running(
              plan ->
                  plan.calling(16)
                      .mixing(new Plan.Mix(10, 0, 0, 0).waiting(0, 0, 40))
                      .living(ServerLife.ordinary().with(Dimension.REJECTIONS, "60")))),

  /** Calls that wait are left to their deadlines by a server that closes. */
  CLOSING_FORGETS_WHO_WAITS(
      breaking(Rule.CLOSING_ENDS_CALLS)
          .of(Form.JOINED_ATTACHED)
          .by(
              interceptor(
                  "internal/waiting/InFlightWaiter",
                  "queues.close().forEach(this::resumeWithWhatItMet);",
                  "var unused = queues.close();"))
          .during(FaultKind.CLOSE)),

  /** What a handler writes is committed beside the claim's transaction, before its record is. */
  EFFECT_BESIDE_THE_HOSTS_CLAIM(
      breaking(Rule.ONE_EFFECT)
          .of(Form.TRANSACTIONAL)
          .by(
              handlers(
                  "SpringHandlers",
                  "@Transactional public void write(",
                  "@Transactional(propagation ="
                      + " org.springframework.transaction.annotation.Propagation.REQUIRES_NEW)\n"
                      + "  public void write("))
          .during(FaultKind.CUT_BEFORE)
          .running(plan -> plan.serving(ServerKind.SPRING, ServerKind.SPRING))),

  /** A reserved handler that answers before its host has committed has its client told at once. */
  ANSWER_BEFORE_THE_HOSTS_COMMIT(
      breaking(Rule.ANSWER_HAS_EFFECT, Rule.RECORD_HAS_EFFECT)
          .of(Form.RESERVED)
          .by(
              store(
                  "internal/claim/JoinedCompletion",
                  "if (stopOpenTransaction() != HostsTransaction.NONE) {",
                  "if (false) {"))
          .during(FaultKind.CUT_BEFORE)
          .running(
              plan ->
                  plan.serving(ServerKind.SPRING, ServerKind.SPRING)
                      .mixing(new Plan.Mix(0, 0, 0, 0).behaving(Map.of(Manner.WITHIN, 80))))),

  /** The record of a call that claims at its commit makes way for the one that stands there. */
  RECORD_AT_COMMIT_MAKES_WAY(
      breaking(Rule.ONE_EFFECT, Rule.EFFECT_HAS_RECORD, Rule.ANSWER_IS_RECORDED, Rule.ONE_ANSWER)
          .of(Form.LATE)
          .by(
              sql(
                  "transaction/record",
                  "CAST(:trace AS bytea));",
                  "CAST(:trace AS bytea)) ON CONFLICT (idempotency_key, user_uuid, tenant, project)"
                      + " DO NOTHING;"))),

  /** Neither the lock nor the index keeps two commits apart that claim. */
  NO_LOCK_AND_NO_INDEX_AT_COMMIT(
      breaking(Rule.ONE_EFFECT)
          .of(Form.LATE)
          .by(sql("transaction/claim_at_commit", "OR NOT pg_try_advisory_xact_lock(:lock)", ""))
          .after("ALTER TABLE idempotency.idempotency_keys DROP CONSTRAINT idempotency_keys_key")),

  /** A call that was rolled back because another one has the key is answered all the same. */
  ANSWERED_ALTHOUGH_PREEMPTED(
      breaking(
              Rule.ONE_ANSWER, Rule.ANSWER_HAS_EFFECT, Rule.ANSWER_IS_RECORDED, Rule.FAILURE_STANDS)
          .of(Form.LATE)
          .by(
              interceptor(
                  "call/internal/KeyedRun",
                  "case PREEMPTED -> { drop(); yield call::startOver; }",
                  "        case PREEMPTED -> sending(answer, true);"))),

  /** A handler's error is answered, although its twin's commit may have caused it. */
  NO_LOOK_FOR_THE_OWNER(
      breaking(Rule.TWIN_IS_NO_ERROR)
          .of(Form.LATE)
          .by(
              store(
                  "internal/transaction/ClaimAtCommit",
                  "return hasOwner() ? Settled.PREEMPTED : Settled.DONE;",
                  "    return hasOwner() ? Settled.DONE : Settled.DONE;"))
          .running(plan -> plan.calling(16).mixing(new Plan.Mix(0, 0, 0, 0)))),

  /** A look for the owner that failed has found that there is none. */
  FAILED_LOOK_FINDS_NOBODY(
      breaking(Rule.TWIN_IS_NO_ERROR)
          .of(Form.LATE)
          .by(
              store(
                  "internal/transaction/ClaimAtCommit",
                  "operationId(), failure); return true;",
                  "operationId(), failure);\n      return false;"))
          .during(FaultKind.CUT_BEFORE)
          .cutting(Plan.LOOK_UP)),

  /** Whoever looks for the owner of a key sees no record. */
  OWNER_IS_NOT_FOUND(
      breaking(Rule.TWIN_IS_NO_ERROR)
          .of(Form.LATE)
          .by(sql("transaction/find_owner", "WHERE ${same_key}", "WHERE false AND ${same_key}"))
          .running(plan -> plan.calling(16).mixing(new Plan.Mix(0, 0, 0, 0)))),

  /** A terminal error that lost to another call's record is answered. */
  FAILURE_ANSWERED_BESIDE_A_RECORD(
      breaking(Rule.FAILURE_STANDS)
          .of(Form.LATE)
          .by(
              store(
                  "internal/transaction/ClaimAtCommit",
                  "case LOST -> Settled.PREEMPTED;",
                  "case LOST -> outcome instanceof RecordedOutcome.Failure ? Settled.DONE :"
                      + " Settled.PREEMPTED;"))
          .running(plan -> plan.mixing(new Plan.Mix(0, 0, 100, 0)))),

  /** A commit whose answer was lost is taken for done, and answered. */
  LOST_COMMIT_IS_ANSWERED(
      breaking(Rule.ANSWER_HAS_EFFECT, Rule.ANSWER_IS_RECORDED)
          .of(Form.LATE)
          .by(
              interceptor(
                  "call/internal/KeyedRun",
                  "case LOST -> refusal(Refusal.inProgress(engine.lease()));",
                  "case LOST -> sending(answer, true);"))
          .during(FaultKind.CUT_BEFORE)
          .cutting(Plan.COMMIT)),

  /** A call that nobody waits for keeps its claim, its connection and its locks. */
  UNANSWERED_CALLS_ARE_KEPT(
      breaking(Rule.TRANSACTIONS_END, Rule.KEY_USABLE)
          .of(Form.TRANSACTIONAL)
          .by(
              interceptor(
                  "internal/settling/RunningCalls",
                  "if (!state.givenUp && isDue(call, state, now)) {",
                  "if (false) {"))
          .running(
              plan -> plan.mixing(new Plan.Mix(0, 0, 0, 0).behaving(Map.of(Manner.NEVER, 8))))),

  /** An answer is recorded in the transaction that its handler has open, and goes with it. */
  SETTLED_IN_THE_HOSTS_TRANSACTION(
      breaking(Rule.FAILURE_STANDS)
          .of(Form.RESERVED)
          .by(
              store(
                  "internal/database/RecordDatabase",
                  "settings.connections().use(work)",
                  "settings.connections().through(any -> settings.pool()).use(work)"),
              store(
                  "internal/database/StoreConnections",
                  "alone = connection.getAutoCommit();",
                  "alone = connection.getAutoCommit() || !connection.isClosed();"))
          .running(
              plan ->
                  plan.serving(ServerKind.JTA, ServerKind.JTA)
                      .mixing(new Plan.Mix(0, 0, 80, 0).behaving(Map.of(Manner.WITHIN, 80))))),

  /** A connection goes back to its pool with the transaction of a handler that has failed. */
  GIVEN_BACK_WITH_A_TRANSACTION(
      breaking(Rule.CONNECTION_RETURNED_CLEAN)
          .of(Form.TRANSACTIONAL)
          .by(
              store(
                  "internal/transaction/OpenTransaction",
                  "if (!guard.isUnused() || !(committed || rollBack())) {",
                  "    if (!guard.isUnused()) {"))
          .running(plan -> plan.mixing(new Plan.Mix(0, 60, 0, 0)))),

  /** All who wait for a key get what the first of them reads, whatever they have called. */
  ONE_LOOK_FOR_ALL_WHO_WAIT(
      breaking(Rule.ENTITLED_IS_ANSWERED, Rule.NO_FALSE_REFUSAL)
          .of(Form.GUARDED_ATTACHED)
          .by(
              interceptor(
                  "internal/waiting/InFlightWaiter",
                  """
                        all.stream()
                            .collect(groupingBy(waiter -> waiter.procedure))
                            .forEach((procedure, its) -> probe(key, procedure, its));
                  """,
                  "      probe(key, all.get(0).procedure, all);\n"))
          .running(
              plan ->
                  plan.through(Form.GUARDED_ATTACHED, Form.TRANSACTIONAL_ATTACHED)
                      .mixing(new Plan.Mix(10, 0, 0, 0).waiting(0, 0, 80)))),

  /** A session that waits by name is asked for its right in whatever context is at hand. */
  WAITS_WITHOUT_ITS_CONTEXT(
      breaking(Rule.NO_UNENTITLED_ANSWERED)
          .of(Form.GUARDED)
          .by(
              operations(
                  "OperationWait",
                  "found -> context.run(() -> request.within(() -> considerAgain(found))),",
                  "found -> request.within(() -> considerAgain(found)),"))
          .running(plan -> plan.mixing(new Plan.Mix(10, 0, 0, 0).waiting(100, 50, 0)))),

  /** Each call of a batch gets the result of the next call. */
  RESULT_OF_ANOTHER_CALL(
      breaking(Rule.NO_FALSE_REFUSAL, Rule.NO_STRANGER_ANSWERED, Rule.NO_UNEXPLAINED_EFFECT)
          .of(Form.RESERVED)
          .by(
              store(
                  "internal/database/Batches",
                  "batch.get(i).result = results.get(i);",
                  "batch.get(i).result = results.get((i + 1) % results.size());"))
          .running(plan -> plan.calling(32).mixing(new Plan.Mix(0, 0, 0, 0)))),

  /** A batch records each answer for the call before its own. */
  ANSWER_RECORDED_FOR_ANOTHER_CALL(
      breaking(Rule.NO_STRANGER_ANSWERED, Rule.ANSWER_IS_RECORDED, Rule.ONE_ANSWER)
          .of(Form.RESERVED)
          .by(
              store(
                  "internal/claim/Reservation",
                  ".bindEachBytes(\"responses\", calls, Call::response)",
                  """
                  .bindEachBytes(
                                  "responses",
                                  calls,
                                  call ->
                                      calls
                                          .get((calls.indexOf(call) + 1) % calls.size())
                                          .response())\
                  """))
          .running(plan -> plan.calling(32).mixing(new Plan.Mix(0, 0, 0, 0)))),

  /** A batch reserves the keys of its calls for each other's users. */
  CLAIM_FOR_ANOTHER_USER_OF_THE_BATCH(
      breaking(Rule.NO_UNEXPLAINED_EFFECT)
          .of(Form.RESERVED)
          .by(
              store(
                  "internal/sql/Parameters",
                  ".bindEach(\"user_uuids\", callers, Caller::userId, UUID[]::new)",
                  """
                  .bindEach(
                            "user_uuids",
                            com.google.common.collect.Lists.reverse(callers),
                            Caller::userId,
                            UUID[]::new)\
                  """))
          .running(plan -> plan.calling(32).mixing(new Plan.Mix(0, 0, 0, 0)))),

  /** A batch whose connection was cut counts as recorded. */
  CUT_BATCH_IS_DONE(
      breaking(Rule.ANSWER_IS_RECORDED, Rule.ONE_ANSWER, Rule.NO_UNEXPLAINED_EFFECT)
          .of(Form.RESERVED)
          .by(
              store(
                  "internal/database/Batches",
                  "batch.forEach(entry -> entry.failure = cutOff(causeOf(known)));",
                  """
                          if (statement.kind() == Kind.SETTLE) {
                            @SuppressWarnings("unchecked")
                            T done = (T) io.github.grpcidempotency.spi.Claim.Settled.DONE;
                            batch.forEach(entry -> entry.result = Optional.of(done));
                            return;
                          }
                          batch.forEach(entry -> entry.failure = cutOff(causeOf(known)));
                  """))
          .inBatches()
          .during(FaultKind.CUT_BEFORE)
          .cutting(Plan.COMPLETION)),

  /** A batch of claims is sent again after its answer was lost, and every key counts as won. */
  REPEATED_BATCH_WINS_EVERY_KEY(
      breaking(Rule.NO_UNEXPLAINED_EFFECT)
          .of(Form.RESERVED)
          .by(
              store(
                  "internal/claim/ReservationAttempt",
                  "return insert(new Free(FailurePhase.ANSWER_LOST));",
                  """
                        UUID sent = ids.iterator().next();
                        return inserted(insertInBatch())
                                instanceof Reserved own
                            ? own
                            : new Reserved(
                                sent,
                                1,
                                Instant.now().plus(request.retention()),
                                Optional.empty(),
                                Optional.empty(),
                                Optional.of(System.nanoTime()));
                  """))
          .inBatches()
          .during(FaultKind.CUT_AFTER)
          .cutting(Plan.RESERVATION)
          .running(
              plan ->
                  plan.calling(16)
                      .pausing(Duration.ofMillis(300))
                      .mixing(new Plan.Mix(10, 0, 0, 0)))),

  /** A batch of completions asks neither whose a record is, nor whether it has an answer. */
  BATCH_WITHOUT_A_FENCE(
      breaking(Rule.RECORD_STANDS, Rule.ONE_ANSWER, Rule.ANSWER_IS_RECORDED)
          .of(Form.RESERVED)
          .by(
              sql(
                  "settle/complete_batch",
                  "WHERE k.attempt = c.attempt AND k.completed IS NULL",
                  "WHERE true"))
          .inBatches()
          .during(FaultKind.STOP));

  /** Start-up would find some of these faults; here it is the checker's turn. */
  static final List<Edit> PAST_THE_START_UP_CHECKS =
      List.of(
          sql(
              "check/schema",
              "WHERE NOT EXISTS (SELECT FROM pg_index",
              "WHERE false AND NOT EXISTS (SELECT FROM pg_index"),
          store(
              "internal/check/ProbeCall",
              "private List<String> problemsOf(Runnable call) {",
              "private List<String> problemsOf(Runnable call) {"
                  + " if (database != null) return List.of();"));

  @SuppressWarnings("ImmutableEnumChecker") // nobody changes it
  private final Seed seed;

  SeededFault(Seed seed) {
    this.seed = seed;
  }

  /** Returns what is done to the database, beside the edits. */
  Optional<String> sabotage() {
    return seed.sabotage();
  }

  /** Returns a run that brings the fault to light. */
  Plan plan() {
    return seed.plan();
  }

  /** Returns the rules that it breaks; one is enough. */
  Set<Rule> broken() {
    return seed.broken();
  }

  List<Edit> edits() {
    return seed.edits();
  }

  Mutant build(Path directory) {
    List<Edit> all = new ArrayList<>(edits());
    all.addAll(PAST_THE_START_UP_CHECKS);
    return Mutant.of(all, List.of("-Dtorture.skew=3600"), directory);
  }
}
