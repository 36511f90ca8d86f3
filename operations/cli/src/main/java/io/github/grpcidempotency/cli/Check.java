package io.github.grpcidempotency.cli;

import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.store.SetupException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Runs the start-up check of a server. */
@Command(
    name = "check",
    sortOptions = false,
    description =
        "Connects as the application's role and runs the start-up check of a server: the"
            + " schema, the role and its rights, row-level security, and a trial call from its"
            + " claim to its replay, which leaves no rows. Lists all problems.",
    footer = {"", "Examples:", "  idempotency check --user orders_app"})
final class Check implements Callable<Integer> {
  private final Surroundings surroundings;

  @Mixin private ConnectionOptions connection = new ConnectionOptions();

  Check(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() {
    Database database = Database.connect(connection, surroundings);
    List<String> problems = problems(database);
    write(database, problems);
    return (problems.isEmpty() ? ExitCode.OK : ExitCode.NEGATIVE).code();
  }

  private static List<String> problems(Database database) {
    PostgresIdempotencyStore store =
        PostgresIdempotencyStore.builder(database.dataSource()).schema(database.schema()).build();
    try {
      store.verify(List.of(), Optional.empty());
      store.verifyTransactions();
      return List.of();
    } catch (SetupException found) {
      return found.problems();
    }
  }

  private void write(Database database, List<String> problems) {
    if (problems.isEmpty()) {
      surroundings
          .out()
          .println(
              ("No problems: %s can use the schema %s, and a trial call worked from its claim to"
                      + " its replay.")
                  .formatted(database.role(), database.schema()));
    } else {
      problems.forEach(problem -> surroundings.out().println("- " + Printable.text(problem)));
      surroundings.err().println("problems found: " + problems.size());
    }
  }
}
