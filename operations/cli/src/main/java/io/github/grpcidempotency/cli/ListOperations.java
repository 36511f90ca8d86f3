package io.github.grpcidempotency.cli;

import io.github.grpcidempotency.admin.Administration;
import io.github.grpcidempotency.admin.OperationPage;
import io.github.grpcidempotency.admin.OperationQuery;
import io.github.grpcidempotency.admin.OperationRecord;
import io.github.grpcidempotency.admin.OperationState;
import io.github.grpcidempotency.admin.Scope;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Lists operations. */
@Command(
    name = "list",
    sortOptions = false,
    description =
        "Lists operations, newest first; with --expired alone, the ones that expired first."
            + " States can be combined: --stuck --unknown lists both. Without any, all operations"
            + " are listed.",
    footer = {
      "",
      "Examples:",
      "  idempotency list --stuck",
      "  idempotency list --running --older-than 10m",
      "  idempotency list --failed --tenant acme --output json",
      "  idempotency list --procedure orders.v1.OrderService/CreateOrder --limit 20"
    })
final class ListOperations implements Callable<Integer> {
  private static final int MAX_LIMIT = 1_000;
  private static final int MAX_PAGES = 50;

  private final Surroundings surroundings;

  @Option(names = "--running", description = "Only operations whose handler is running.")
  private boolean running;

  @Option(
      names = "--stuck",
      description = "Only operations whose lease has ended without an outcome.")
  private boolean stuck;

  @Option(names = "--unknown", description = "Only operations whose outcome is unknown.")
  private boolean unknown;

  @Option(names = "--completed", description = "Only operations with a recorded response.")
  private boolean completed;

  @Option(names = "--failed", description = "Only operations with a recorded error.")
  private boolean failed;

  @Option(names = "--expired", description = "Only expired operations that are not swept yet.")
  private boolean expired;

  @Option(
      names = "--procedure",
      paramLabel = "NAME",
      description = "Only operations of this procedure: package.Service/Method.")
  private Optional<String> procedure = Optional.empty();

  @Mixin private WhoseOptions whose = new WhoseOptions();

  @Option(
      names = "--server",
      paramLabel = "NAME",
      description = "Only operations that this server holds, or held last.")
  private Optional<String> server = Optional.empty();

  @Option(
      names = "--older-than",
      paramLabel = "DURATION",
      description =
          "Only operations that were created at least this time ago: 90s, 15m, 1h30m, 2d.")
  private Optional<Duration> olderThan = Optional.empty();

  @Option(
      names = "--newer-than",
      paramLabel = "DURATION",
      description = "Only operations that were created at most this time ago.")
  private Optional<Duration> newerThan = Optional.empty();

  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "50",
      description = "The maximum number of operations, up to 1000. Default: ${DEFAULT-VALUE}.")
  private int limit;

  @Option(
      names = "--after",
      paramLabel = "PLACE",
      description =
          "The next page: the token that the previous page printed. All other options must be"
              + " the same.")
  private Optional<String> after = Optional.empty();

  @Option(
      names = "--keys",
      description =
          "Shows the clients' keys too. By default they are hidden, because a key together with"
              + " its user's rights gives access to the answer.")
  private boolean keys;

  @Mixin private ConnectionOptions connection = new ConnectionOptions();
  @Mixin private OutputOptions output = new OutputOptions();

  ListOperations(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() {
    if (limit < 1 || limit > MAX_LIMIT) {
      throw new CommandFailure(ExitCode.USAGE, "--limit must be 1 to " + MAX_LIMIT);
    }
    OperationQuery query = query(after, limit);
    Administration administration = Database.connect(connection, surroundings).administration();
    OperationPage page = list(query, administration);
    write(page.operations());
    if (page.operations().isEmpty() && page.next().isEmpty()) {
      surroundings.err().println(none(query));
    }
    if (running) {
      surroundings
          .err()
          .printf(
              Locale.ROOT,
              "transactional calls are not listed, because they have no row before they commit;"
                  + " connections that hold a key's lock: %,d%n",
              administration.statistics().keyLocks());
    }
    page.next()
        .ifPresent(
            place -> surroundings.err().println("there may be more; next page: --after " + place));
    return ExitCode.OK.code();
  }

  /** Returns the message for an empty list, which is good news for some lists. */
  private static String none(OperationQuery query) {
    boolean all =
        query.procedure().isEmpty()
            && query.scope().equals(Scope.ALL)
            && query.userId().isEmpty()
            && query.server().isEmpty()
            && query.olderThan().isEmpty()
            && query.newerThan().isEmpty()
            && query.after().isEmpty();
    boolean alarming =
        !query.states().isEmpty()
            && Set.of(OperationState.STUCK, OperationState.UNKNOWN).containsAll(query.states());
    return alarming
        ? "no operation is %s%s: nothing needs to be done"
            .formatted(
                query.states().stream()
                    .map(OperationView::word)
                    .sorted()
                    .collect(Collectors.joining(" or ")),
                all ? "" : " among those that match")
        : "no operation matches";
  }

  /**
   * Reads pages until there is a result. A page may be empty although more follow, because a page
   * reads a limited number of rows.
   */
  private OperationPage list(OperationQuery first, Administration administration) {
    List<OperationRecord> found = new ArrayList<>();
    OperationPage page = administration.list(first);
    found.addAll(page.operations());
    for (int pages = 1;
        pages < MAX_PAGES && found.size() < limit && page.next().isPresent();
        pages++) {
      page = administration.list(query(page.next(), limit - found.size()));
      found.addAll(page.operations());
    }
    return new OperationPage(found, page.next());
  }

  private OperationQuery query(Optional<String> place, int most) {
    try {
      return new OperationQuery(
          states(),
          procedure,
          whose.scope(),
          whose.user(),
          server,
          olderThan,
          newerThan,
          Optional.empty(),
          place,
          most);
    } catch (IllegalArgumentException malformed) {
      throw new CommandFailure(ExitCode.USAGE, String.valueOf(malformed.getMessage()), malformed);
    }
  }

  private void write(List<OperationRecord> found) {
    Output results = Output.to(surroundings);
    List<OperationView> views =
        found.stream().map(operation -> new OperationView(operation, keys)).toList();
    if (output.isJson()) {
      views.forEach(view -> results.json(view.json()));
    } else if (!views.isEmpty()) {
      results.table(table(views));
    }
  }

  private Table table(List<OperationView> views) {
    List<String> headings =
        new ArrayList<>(List.of("OPERATION", "STATE", "AGE", "ENDS", "TRY", "SERVER", "PROCEDURE"));
    if (keys) {
      headings.add("KEY");
    }
    Table table = new Table(headings.toArray(String[]::new));
    for (OperationView view : views) {
      OperationRecord operation = view.operation();
      String[] cells = {
        operation.id().toString(),
        OperationView.word(operation.state()),
        view.age(),
        view.until(),
        Integer.toString(operation.attempt()),
        operation.server().orElse("-"),
        operation.procedure(),
        operation.key()
      };
      table.add(Arrays.copyOf(cells, headings.size()));
    }
    return table;
  }

  private Set<OperationState> states() {
    EnumSet<OperationState> states = EnumSet.noneOf(OperationState.class);
    for (OperationState state : OperationState.values()) {
      boolean wanted =
          switch (state) {
            case RUNNING -> running;
            case STUCK -> stuck;
            case UNKNOWN -> unknown;
            case COMPLETED -> completed;
            case FAILED -> failed;
            case EXPIRED -> expired;
          };
      if (wanted) {
        states.add(state);
      }
    }
    return states;
  }
}
