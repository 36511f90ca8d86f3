package io.github.grpcidempotency.torture;

import static io.github.grpcidempotency.torture.Mutant.Edit.interceptor;
import static io.github.grpcidempotency.torture.Mutant.Edit.sql;
import static io.github.grpcidempotency.torture.Mutant.Edit.store;

import io.github.grpcidempotency.torture.Mutant.Edit;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Faults that the library could have, each with what brings it to light and the rule it breaks. */
enum SeededFault {
  /** A completion does not ask whose the record is now. */
  NO_FENCE(
      List.of(sql("complete", "   AND k.attempt = :attempt\n   AND k.completed IS NULL\n", "")),
      Map.of(FaultKind.STOP, 1),
      List.of(Plan.COMMIT),
      Form.JOINED,
      Rule.ONE_EFFECT,
      Rule.RECORD_STANDS),

  /** A handler that was overtaken commits all the same. */
  IGNORED_FENCE(
      List.of(store("Reservation", "throw new ClaimLostException(id);", "return;")),
      Map.of(FaultKind.STOP, 1),
      List.of(Plan.COMMIT),
      Form.JOINED,
      Rule.ONE_EFFECT),

  /** A server that was overtaken sends its own answer. */
  ZOMBIE_ANSWERS(
      List.of(
          interceptor(
              "runtime/Settler",
              "case LOST -> Recording.COME_AGAIN;",
              "case LOST -> Recording.DONE;")),
      Map.of(FaultKind.STOP, 1),
      List.of(Plan.COMMIT),
      Form.RESERVED,
      Rule.ONE_ANSWER,
      Rule.ANSWER_IS_RECORDED),

  /** A handler whose commit was not answered has its completed record deleted. */
  RELEASE_AFTER_UNKNOWN_COMMIT(
      List.of(sql("release", "   AND k.completed IS NULL\n", "")),
      Map.of(FaultKind.CUT_AFTER, 1),
      List.of(Plan.COMMIT),
      Form.JOINED,
      Rule.ONE_EFFECT,
      Rule.RECORD_STANDS),

  /** An answer that could not be recorded at once is forgotten, and its key freed. */
  LATE_RECORDER_RELEASES(
      List.of(interceptor("runtime/LateRecorder", "claim.complete(outcome)", "claim.release()")),
      Map.of(FaultKind.CUT_BEFORE, 1),
      List.of(Plan.COMPLETION),
      Form.RESERVED,
      Rule.NO_UNEXPLAINED_EFFECT),

  /** Whether a lease has ended is told by a server's clock; one server's is an hour ahead. */
  SERVER_CLOCK(
      List.of(
          store(
              "Binding",
              ".bind(\"id\", id)",
              ".bind(\"id\", id).bind(\"server_now\", java.time.OffsetDateTime.now()"
                  + ".plusSeconds(Integer.getInteger(\"torture.skew\", 0)))"),
          store(
              "StandingRow",
              "leaseLeft.isZero()",
              "leaseLeft.compareTo(Duration.ofSeconds(Integer.getInteger(\"torture.skew\", 0))) <= 0"),
          sql("take_over", "k.lease_expires <= now()", "k.lease_expires <= :server_now")),
      Map.of(),
      List.of(Plan.COMMIT),
      Form.RESERVED,
      Rule.NO_UNEXPLAINED_EFFECT),

  /** A reservation is taken over although its owner is alive. */
  TAKEOVER_OF_THE_LIVING(
      List.of(
          sql("take_over", "   AND k.lease_expires <= now()\n", ""),
          store("StandingRow", "!ended && leaseLeft.isZero()", "!ended")),
      Map.of(),
      List.of(Plan.COMMIT),
      Form.RESERVED,
      Rule.NO_UNEXPLAINED_EFFECT),

  /** A reservation is never taken over. */
  ENDLESS_LEASE(
      List.of(sql("take_over", "k.lease_expires <= now()", "false")),
      Map.of(FaultKind.KILL, 1),
      List.of(Plan.COMMIT),
      Form.JOINED,
      Rule.KEY_USABLE),

  /** A key that was used for another request is answered with its answer. */
  NO_HASH_CHECK(
      List.of(
          interceptor(
              "decision/ClaimDecider",
              "case OTHER -> Optional.of(new Decision.Refuse(Refusal.reused(\"request\")));",
              "case OTHER -> Optional.empty();")),
      Map.of(),
      List.of(Plan.COMMIT),
      Form.JOINED,
      Rule.NO_MISMATCH_ANSWERED),

  /** Nothing but the look at the record keeps two transactions apart. */
  NO_LOCK_AND_NO_UNIQUE_KEY(
      List.of(sql("claim_in_transaction", "pg_try_advisory_xact_lock(:lock)", "true")),
      Map.of(),
      List.of(Plan.COMMIT),
      Form.TRANSACTIONAL,
      Rule.ONE_EFFECT) {
    @Override
    Optional<String> sabotage() {
      return Optional.of(
          "ALTER TABLE idempotency.idempotency_keys DROP CONSTRAINT idempotency_keys_key");
    }
  },

  /** The client is answered first, and the answer recorded then. */
  ANSWER_BEFORE_RECORD(
      List.of(
          interceptor(
              "grpc/ClaimedCall",
              "    try {\n      switch (engine",
              "    Answering.send(call, answer, claim.operationId(), claim.expires(),"
                  + " firstStatus());\n"
                  + "    if (claim != null) {\n"
                  + "      var unused = engine.settler().complete(claim, (Message) message);\n"
                  + "      return;\n"
                  + "    }\n"
                  + "    try {\n      switch (engine")),
      Map.of(FaultKind.CUT_BEFORE, 1),
      List.of(Plan.COMMIT),
      Form.TRANSACTIONAL,
      Rule.ANSWER_HAS_EFFECT,
      Rule.ANSWER_IS_RECORDED),

  /** A record is treated as expired as soon as it is complete. */
  EXPIRED_AT_ONCE(
      List.of(
          store("StandingRow", "!expires.isAfter(read) && (ended", "(ended"),
          sql("reclaim", "   AND k.expires <= now()\n", "")),
      Map.of(),
      List.of(Plan.COMMIT),
      Form.JOINED,
      Rule.RECORD_STANDS,
      Rule.ONE_EFFECT),

  /** Neither the statement nor row-level security asks whose the record is. */
  NO_USER(
      List.of(sql("look", "   AND k.user_id = CAST(:user AS uuid)", "")),
      Map.of(),
      List.of(Plan.COMMIT),
      Form.JOINED,
      Rule.NO_STRANGER_ANSWERED,
      Rule.NO_FALSE_REFUSAL) {
    @Override
    Optional<String> sabotage() {
      return Optional.of(
          """
          DROP POLICY own_rows ON idempotency.idempotency_keys;
          CREATE POLICY own_rows ON idempotency.idempotency_keys FOR ALL USING (true);
          """);
    }
  },

  /** The sweep deletes what has not expired. */
  GREEDY_SWEEP(List.of(), Map.of(), List.of(Plan.COMMIT), Form.JOINED, Rule.RECORD_STANDS) {
    @Override
    Optional<String> sabotage() {
      return Optional.of(
          """
          CREATE OR REPLACE FUNCTION idempotency.sweep_expired(batch integer) RETURNS integer
            LANGUAGE sql VOLATILE SECURITY DEFINER
          AS $$
            WITH swept AS (
              DELETE FROM idempotency.idempotency_keys WHERE completed IS NOT NULL RETURNING 1
            )
            SELECT count(*)::integer FROM swept
          $$;
          ALTER FUNCTION idempotency.sweep_expired(integer) OWNER TO postgres;
          """);
    }
  };

  private static final Duration LENGTH = Duration.ofSeconds(10);

  @SuppressWarnings("ImmutableEnumChecker") // an immutable list of immutable records
  private final List<Edit> edits;

  @SuppressWarnings("ImmutableEnumChecker") // an immutable map of enums
  private final Map<FaultKind, Integer> faults;

  @SuppressWarnings("ImmutableEnumChecker") // an immutable list of strings
  private final List<String> cuts;

  private final Form form;

  @SuppressWarnings("ImmutableEnumChecker") // an immutable set of enums
  private final Set<Rule> broken;

  SeededFault(
      List<Edit> edits,
      Map<FaultKind, Integer> faults,
      List<String> cuts,
      Form form,
      Rule... broken) {
    this.edits = edits;
    this.faults = faults;
    this.cuts = cuts;
    this.form = form;
    this.broken = Set.of(broken);
  }

  /** Returns what is done to the database, beside the edits. */
  Optional<String> sabotage() {
    return Optional.empty();
  }

  /** Returns a run that brings the fault to light. */
  Plan plan() {
    return Plan.only(LENGTH, faults, form).cutting(cuts.toArray(String[]::new));
  }

  /** Returns the rules that it breaks; one is enough. */
  Set<Rule> broken() {
    return broken;
  }

  Mutant build(Path directory) {
    return Mutant.of(edits, List.of("-Dtorture.skew=3600"), directory);
  }
}
