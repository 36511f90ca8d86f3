package io.github.grpcidempotency.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.github.grpcidempotency.admin.Administration;
import io.github.grpcidempotency.admin.OperationPage;
import io.github.grpcidempotency.admin.OperationQuery;
import io.github.grpcidempotency.admin.OperationRecord;
import io.github.grpcidempotency.admin.OperationState;
import io.github.grpcidempotency.admin.Scope;
import io.github.grpcidempotency.resource.OutboxQuery;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Counts the asynchronous work behind recorded responses by its status in the outbox. */
@Command(
    name = "work",
    sortOptions = false,
    description =
        "Counts the asynchronous work behind the responses of a procedure by its status in the"
            + " outbox, with the oldest operation of each status. Sends the outbox query once for"
            + " each record, from the newest on. The role needs SELECT on the outbox.",
    footer = {
      "",
      "Examples:",
      "  idempotency work --procedure orders.v1.OrderService/CreateOrder --older-than 10m \\",
      "    --outbox \"SELECT status FROM app.outbox WHERE order_id = :resource_id ORDER BY id DESC"
          + " LIMIT 1\""
    })
final class Work implements Callable<Integer> {
  private static final int PAGE = 1_000;
  private static final int MOST_SHOWN = 20;
  private static final String NO_ENTRY = "no entry";

  private final Surroundings surroundings;

  @Option(
      names = "--procedure",
      paramLabel = "NAME",
      required = true,
      description = "The procedure: package.Service/Method.")
  private String procedure = "";

  @Option(
      names = "--outbox",
      paramLabel = "SQL",
      required = true,
      description =
          "The query that the procedure passes to OutboxQuery.of. It runs with"
              + " app.current_user_id of the record's user, as in a server.")
  private String outbox = "";

  @Option(
      names = "--older-than",
      paramLabel = "DURATION",
      description = "Only records that were created at least this time ago: 90s, 15m, 1h30m, 2d.")
  private Optional<Duration> olderThan = Optional.empty();

  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "10000",
      description = "The maximum number of records. Default: ${DEFAULT-VALUE}.")
  private int limit;

  @Mixin private ConnectionOptions connection = new ConnectionOptions();
  @Mixin private OutputOptions output = new OutputOptions();

  Work(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  /** The work with one status. The newest operation was added first. */
  private static final class Tally {
    private final Deque<OperationRecord> oldest = new ArrayDeque<>();
    private int records;

    void add(OperationRecord operation) {
      records++;
      oldest.addFirst(operation);
      if (oldest.size() > MOST_SHOWN) {
        oldest.removeLast();
      }
    }

    Duration age() {
      OperationRecord first = oldest.getFirst();
      return Duration.between(first.completed().orElse(first.created()), first.read());
    }
  }

  @Override
  public Integer call() throws SQLException {
    List<String> parameters = new ArrayList<>();
    String sql = "SELECT set_config('app.current_user_id', ?, true); " + query(parameters);
    Database database = Database.connect(connection, surroundings);
    Map<String, Tally> work = new TreeMap<>();
    Optional<String> rest;
    try (Connection reader = database.dataSource().getConnection()) {
      reader.setReadOnly(true);
      reader.setAutoCommit(false); // the user is that of a transaction
      try (PreparedStatement statement = reader.prepareStatement(sql)) {
        rest =
            count(
                database.administration(),
                operation -> status(statement, parameters, operation),
                work);
      }
    }
    write(work);
    rest.ifPresent(
        place -> surroundings.err().println("older records were not read: give a larger --limit"));
    return ExitCode.OK.code();
  }

  /** Returns the query for the driver, and adds the names of its parameters in their order. */
  private String query(List<String> parameters) {
    try {
      return OutboxQuery.of(outbox)
          .build()
          .sql(
              name -> {
                parameters.add(name);
                return "?";
              });
    } catch (IllegalArgumentException malformed) {
      throw new CommandFailure(ExitCode.USAGE, String.valueOf(malformed.getMessage()), malformed);
    }
  }

  private interface Statuses {
    String of(OperationRecord operation) throws SQLException;
  }

  /** Counts page by page, and returns the place of the next page if the limit is reached. */
  private Optional<String> count(
      Administration administration, Statuses statuses, Map<String, Tally> work)
      throws SQLException {
    Optional<String> place = Optional.empty();
    int left = limit;
    do {
      OperationPage page = administration.list(records(place, Math.min(left, PAGE)));
      for (OperationRecord operation : page.operations()) {
        if (operation.resource().isPresent()) {
          work.computeIfAbsent(statuses.of(operation), status -> new Tally()).add(operation);
        }
      }
      left -= page.operations().size();
      place = page.next();
    } while (place.isPresent() && left > 0);
    return place;
  }

  private OperationQuery records(Optional<String> place, int most) {
    try {
      return new OperationQuery(
          Set.of(OperationState.COMPLETED),
          Optional.of(procedure),
          Scope.ALL,
          Optional.empty(),
          Optional.empty(),
          olderThan,
          Optional.empty(),
          Optional.empty(),
          place,
          most);
    } catch (IllegalArgumentException malformed) {
      throw new CommandFailure(ExitCode.USAGE, "--limit must be at least 1", malformed);
    }
  }

  private static String status(
      PreparedStatement statement, List<String> parameters, OperationRecord operation)
      throws SQLException {
    statement.setString(1, operation.userId().toString());
    for (int i = 0; i < parameters.size(); i++) {
      // Without a type: the database takes that of the column with which the query compares it.
      statement.setObject(i + 2, value(parameters.get(i), operation), Types.OTHER);
    }
    statement.execute();
    statement.getMoreResults();
    try (ResultSet found = statement.getResultSet()) {
      return found.next() ? String.valueOf(found.getString(1)) : NO_ENTRY;
    }
  }

  private static String value(String parameter, OperationRecord operation) {
    return switch (parameter) {
      case "user_id" -> operation.userId().toString();
      case "tenant" -> operation.tenant();
      case "project" -> operation.project();
      default -> operation.resource().orElseThrow().id();
    };
  }

  private void write(Map<String, Tally> work) {
    Output results = Output.to(surroundings);
    Table table = new Table("STATUS", "RECORDS", "OLDEST", "OLDEST OPERATION");
    work.forEach(
        (status, tally) -> {
          if (output.isJson()) {
            results.json(json(status, tally));
          }
          table.add(
              status,
              String.format(Locale.ROOT, "%,d", tally.records),
              DurationText.text(tally.age()),
              tally.oldest.getFirst().id().toString());
        });
    if (work.isEmpty()) {
      surroundings.err().println("no record matches");
    } else if (!output.isJson()) {
      results.table(table);
    }
  }

  private static JsonObject json(String status, Tally tally) {
    JsonObject json = new JsonObject();
    json.addProperty("status", status);
    json.addProperty("records", tally.records);
    json.addProperty("oldest_seconds", tally.age().toSeconds());
    JsonArray operations = new JsonArray();
    tally.oldest.forEach(operation -> operations.add(operation.id().toString()));
    json.add("oldest_operations", operations);
    return json;
  }
}
