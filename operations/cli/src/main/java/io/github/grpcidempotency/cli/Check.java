package io.github.grpcidempotency.cli;

import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.procedure.SetupException;
import io.github.grpcidempotency.store.RecordedProcedure;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Runs the start-up check of a server. */
@Command(
    name = "check",
    sortOptions = false,
    description =
        "Connects as the application's role and runs the start-up check of a server: the"
            + " schema, the role and its rights, row-level security, and a trial call from its"
            + " claim to its replay, which leaves no rows. Lists all problems.",
    footer = {
      "",
      "With --descriptors, also checks every procedure that is described by an option in"
          + " the service's schema. Settings",
      "that a server makes in Java only, such as outbox queries, are not checked.",
      "",
      "Examples:",
      "  idempotency check --user orders_app",
      "  idempotency check --user orders_app --descriptors orders.desc"
    })
final class Check implements Callable<Integer> {
  private final Surroundings surroundings;

  @Option(
      names = "--descriptors",
      paramLabel = "FILE",
      description =
          "The service's schema: the output of protoc --include_imports --descriptor_set_out.")
  private Optional<Path> descriptors = Optional.empty();

  @Mixin private ConnectionOptions connection = new ConnectionOptions();

  Check(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() {
    Optional<Procedures> described = descriptors.map(Schema::read).map(this::procedures);
    Database database = Database.connect(connection, surroundings);
    List<String> problems = new ArrayList<>(described.map(Procedures::problems).orElse(List.of()));
    problems.addAll(problems(database, described.map(Check::recorded).orElse(List.of())));
    write(database, described.map(known -> known.all().size()).orElse(0), problems);
    return (problems.isEmpty() ? ExitCode.OK : ExitCode.NEGATIVE).code();
  }

  private Procedures procedures(Schema schema) {
    Procedures.Builder procedures = Procedures.builder();
    schema.services().forEach(procedures::addAnnotated);
    return procedures.build();
  }

  private static List<RecordedProcedure> recorded(Procedures procedures) {
    return procedures.all().stream()
        .map(RecordedProcedure::of)
        .sorted(Comparator.comparing(RecordedProcedure::name))
        .toList();
  }

  private static List<String> problems(Database database, List<RecordedProcedure> procedures) {
    PostgresIdempotencyStore store =
        PostgresIdempotencyStore.builder(database.dataSource()).schema(database.schema()).build();
    try {
      store.verify(procedures, Optional.empty());
      store.verifyTransactions();
      return List.of();
    } catch (SetupException found) {
      return found.problems();
    }
  }

  private void write(Database database, int procedures, List<String> problems) {
    if (problems.isEmpty()) {
      surroundings
          .out()
          .println(
              ("No problems: %s can use the schema %s%s, and a trial call worked from its claim to"
                      + " its replay.")
                  .formatted(
                      database.role(),
                      database.schema(),
                      procedures == 0 ? "" : " for %d procedures".formatted(procedures)));
    } else {
      problems.forEach(problem -> surroundings.out().println("- " + Printable.text(problem)));
      surroundings.err().println("problems found: " + problems.size());
    }
  }
}
