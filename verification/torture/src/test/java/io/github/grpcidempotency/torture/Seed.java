package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.torture.Mutant.Edit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * How a fault is made, and what brings it to light.
 *
 * @param sabotage what is done to the database, beside the edits
 * @param during the kind of fault that the servers meet; without one, the first calls show the
 *     fault
 * @param cuts where connections are cut
 * @param broken the rules that it breaks; one is enough
 */
record Seed(
    List<Edit> edits,
    Optional<String> sabotage,
    Optional<FaultKind> during,
    String cuts,
    Form form,
    UnaryOperator<Plan> run,
    Set<Rule> broken) {
  private static final Duration LENGTH = Duration.ofSeconds(10);
  private static final Duration LENGTH_WITHOUT_FAULTS = Duration.ofSeconds(4);

  static Seed breaking(Rule... rules) {
    return new Seed(
        List.of(),
        Optional.empty(),
        Optional.empty(),
        Plan.COMMIT,
        Form.JOINED,
        UnaryOperator.identity(),
        Set.of(rules));
  }

  /** Calls are of this form; if it is not set, they are joined. */
  Seed of(Form other) {
    return new Seed(edits, sabotage, during, cuts, other, run, broken);
  }

  Seed by(Edit... others) {
    return new Seed(List.of(others), sabotage, during, cuts, form, run, broken);
  }

  /** Sends every reserved call in a batch, even a call that could be sent alone. */
  Seed inBatches() {
    List<Edit> all = new ArrayList<>(edits);
    all.add(
        Edit.store(
            "PostgresIdempotencyStore",
            "private int smallestBatch = 2;",
            "private int smallestBatch = 1;"));
    return by(all.toArray(Edit[]::new));
  }

  Seed after(String statements) {
    return new Seed(edits, Optional.of(statements), during, cuts, form, run, broken);
  }

  Seed during(FaultKind kind) {
    return new Seed(edits, sabotage, Optional.of(kind), cuts, form, run, broken);
  }

  /** Cuts connections elsewhere than at the commit. */
  Seed cutting(String statement) {
    return new Seed(edits, sabotage, during, statement, form, run, broken);
  }

  Seed running(UnaryOperator<Plan> otherwise) {
    return new Seed(edits, sabotage, during, cuts, form, otherwise, broken);
  }

  Plan plan() {
    Duration length = during.isPresent() ? LENGTH : LENGTH_WITHOUT_FAULTS;
    Map<FaultKind, Integer> faults = during.map(kind -> Map.of(kind, 1)).orElseGet(Map::of);
    return run.apply(Plan.only(length, faults, form).cutting(cuts));
  }
}
