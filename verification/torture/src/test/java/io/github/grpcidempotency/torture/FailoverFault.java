package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.torture.Mutant.Edit;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Faults that the library or its handlers could have, and that only a failover brings to light. The
 * primary dies while its replicas lag.
 */
enum FailoverFault {
  /** A transaction is confirmed before a second node has it. */
  CONFIRMED_EARLY(
      Edit.sql(
          "transaction/claim",
          " AS read_only;",
          " AS read_only, set_config('synchronous_commit', 'local', true) AS early;"),
      true,
      Form.TRANSACTIONAL,
      Rule.ANSWER_HAS_EFFECT,
      Rule.ANSWER_IS_RECORDED),

  /** The reservation of a handler that writes elsewhere does not wait for a replica. */
  RESERVED_EARLY(
      List.of(
          committingEarly("claim/claim", "${lock_timeout};"),
          committingEarly("claim/claim_batch", "${indexed_plans};")),
      true,
      Form.FAIL_OPEN,
      Rule.NO_UNEXPLAINED_EFFECT) {
    @Override
    Plan plan() {
      return super.plan().leasing(Duration.ofSeconds(30)).mixing(QUICK);
    }
  },

  /** The answer does not wait for a replica. */
  RECORDED_EARLY(
      List.of(recordingEarly("settle/update"), recordingEarly("settle/complete_batch")),
      true,
      Form.RESERVED,
      Rule.ANSWER_IS_RECORDED),

  /** Where nothing waits for a replica: two commits, of the effect and then of its record. */
  EFFECT_BEFORE_RECORD(
      Edit.handlers(
          "PlainTransactions",
          FailoverFault.JOIN,
          """
              jdbi.useTransaction(handle -> insert(handle, server, run));
              rest.run();
              jdbi.useTransaction(
                  handle -> {
          """),
      false,
      Form.JOINED,
      Rule.EFFECT_HAS_RECORD),

  /** The same the other way round. */
  RECORD_BEFORE_EFFECT(
      Edit.handlers(
          "PlainTransactions",
          FailoverFault.JOIN,
          """
              jdbi.useTransaction(
                  handle -> complete(handle, run));
              rest.run();
              jdbi.useTransaction(
                  handle -> {
                    insert(handle, server, run);
                    if (run.guarded()) {
                      return;
                    }
          """),
      false,
      Form.JOINED,
      Rule.ANSWER_HAS_EFFECT,
      Rule.RECORD_HAS_EFFECT),

  /** An answer is recorded on another time line than its reservation's. */
  RECORDED_ON_ANOTHER_TIME_LINE(
      List.of(
          Edit.store(
              "internal/sql/SqlFiles",
              ".withFile(\"same_time_line\", \"settle/same_time_line\", timeLines)",
              ".with(\"same_time_line\", \"\")"),
          Edit.store(
              "internal/sql/SqlFiles",
              ".withFile(\"same_time_line_batch\", \"settle/same_time_line_batch\", timeLines)",
              ".with(\"same_time_line_batch\", \"\")")),
      false,
      Form.RESERVED,
      Rule.ANSWER_HAS_EFFECT,
      Rule.RECORD_HAS_EFFECT) {
    @Override
    Plan plan() {
      return outlasting();
    }
  };

  /** How a handler begins to write its effect and its record in one transaction. */
  private static final String JOIN =
      """
          jdbi.useTransaction(
              handle -> {
                lockIfStrict(handle);
                insert(handle, server, run);
                rest.run();
      """;

  /** Handlers that are often between two commits. */
  private static final Plan.Mix SLOW = new Plan.Mix(40, 0, 0, 0);

  /** Handlers that have done it by the time of the failover, or have not begun. */
  private static final Plan.Mix QUICK = new Plan.Mix(0, 0, 0, 0);

  @SuppressWarnings("ImmutableEnumChecker") // an immutable list of records
  private final List<Edit> edits;

  private final boolean synchronous;
  private final Form form;

  @SuppressWarnings("ImmutableEnumChecker") // an immutable set of enums
  private final Set<Rule> broken;

  FailoverFault(Edit edit, boolean synchronous, Form form, Rule... broken) {
    this(List.of(edit), synchronous, form, broken);
  }

  FailoverFault(List<Edit> edits, boolean synchronous, Form form, Rule... broken) {
    this.edits = edits;
    this.synchronous = synchronous;
    this.form = form;
    this.broken = Set.of(broken);
  }

  /** Whether replication is synchronous. */
  boolean isSynchronous() {
    return synchronous;
  }

  /** Returns a run that brings the fault to light. */
  Plan plan() {
    return lagging(form)
        .leasing(Duration.ofSeconds(3))
        .mixing(this == CONFIRMED_EARLY ? QUICK : SLOW);
  }

  /** Returns a run in which the primary dies while its replicas lag. */
  static Plan lagging(Form... forms) {
    return Plan.only(Duration.ofSeconds(40), Map.of(FaultKind.LAGGING_REPLICAS, 1), forms)
        .leasing(Duration.ofSeconds(30))
        .mixing(QUICK);
  }

  /** Returns a run whose handlers outlast the death of their primary. */
  static Plan outlasting() {
    return lagging(Form.RESERVED)
        .calling(24)
        .leasing(Duration.ofSeconds(8))
        .mixing(new Plan.Mix(60, 0, 0, 0));
  }

  /** Returns the rules that it breaks; one is enough. */
  Set<Rule> broken() {
    return broken;
  }

  List<Edit> edits() {
    return edits;
  }

  private static Edit committingEarly(String statement, String end) {
    return Edit.sql(
        statement,
        end,
        end.replace(";", ", set_config('synchronous_commit', 'local', true) AS early;"));
  }

  private static Edit recordingEarly(String statement) {
    return Edit.sql(
        statement,
        "outcome_unknown = false",
        "outcome_unknown = set_config('synchronous_commit', 'local', true) = ''");
  }

  Mutant build(Path directory) {
    return Mutant.of(edits(), List.of(), directory);
  }
}
