package io.github.grpcidempotency.postgres.internal.operation;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.spi.OperationCatalog.OwnedResource;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.spi.UnfinishedWork;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Finds the oldest answers whose work is not finished. Reads the records in the order of their ids,
 * asks the outbox for their status, and remembers for each procedure the first answer whose work
 * was not finished. Nothing else is remembered: a record that is deleted, or whose resource is, no
 * longer counts. Thread-safe.
 */
public final class OutboxBacklog implements UnfinishedWork {
  /** The number of queries for one procedure in one read. */
  private static final int MOST_PAGES = 10;

  /** The number of answers that {@code answers_after} returns at most. */
  private static final int MOST_ANSWERS = 1_000;

  private final RecordDatabase database;
  private final OutboxStatuses outbox;
  private final List<RecordedProcedure> procedures;
  private final String sql;

  @GuardedBy("this")
  private final Map<String, UUID> places = new HashMap<>();

  private record Answer(UUID id, OwnedResource resource, Duration age) {}

  private record Row(Optional<UUID> readUpTo, Optional<Answer> answer) {}

  public OutboxBacklog(RecordDatabase database, Collection<RecordedProcedure> procedures) {
    this.database = database;
    this.outbox = new OutboxStatuses(database);
    this.procedures =
        procedures.stream()
            .filter(known -> known.outbox().isPresent() && known.resourceType().isPresent())
            .toList();
    this.sql = database.files().load("operation/answers_after");
  }

  @Override
  public synchronized Map<String, Backlog> read() {
    Map<String, Backlog> backlogs = new HashMap<>();
    for (RecordedProcedure procedure : procedures) {
      backlogs.put(procedure.name(), read(procedure));
    }
    return backlogs;
  }

  @GuardedBy("this")
  private Backlog read(RecordedProcedure procedure) {
    for (int page = 0; page < MOST_PAGES; page++) {
      Optional<UUID> place = Optional.ofNullable(places.get(procedure.name()));
      List<Row> rows = rowsAfter(procedure, place);
      List<Answer> answers = rows.stream().flatMap(row -> row.answer().stream()).toList();
      Map<OwnedResource, IdempotencyStatus> statuses =
          outbox.of(procedure, answers.stream().map(Answer::resource).toList());
      List<Answer> unfinished =
          answers.stream()
              .filter(
                  answer ->
                      statuses.getOrDefault(answer.resource(), IdempotencyStatus.PROCESSING)
                          == IdempotencyStatus.PROCESSING)
              .toList();
      if (!unfinished.isEmpty()) {
        places.put(procedure.name(), unfinished.get(0).id());
        return new Backlog(unfinished.size(), unfinished.get(0).age());
      }
      Optional<UUID> next =
          answers.size() < MOST_ANSWERS
              ? rows.get(0).readUpTo()
              : Optional.of(answers.get(answers.size() - 1).id());
      if (next.isEmpty() || next.equals(place)) {
        break;
      }
      places.put(procedure.name(), next.get());
    }
    return Backlog.NONE;
  }

  private List<Row> rowsAfter(RecordedProcedure procedure, Optional<UUID> place) {
    return database.inStore(
        "read answers with unfinished work",
        connection ->
            StatementBatch.runForRows(
                connection,
                sql,
                values ->
                    values
                        .bind("procedure", procedure.name())
                        .bind("key_column", procedure.resourceType().orElseThrow().column())
                        .bind("place", "uuid", place),
                OutboxBacklog::row));
  }

  private static Row row(ResultSet row) throws SQLException {
    UUID id = row.getObject("id", UUID.class);
    return new Row(
        Optional.ofNullable(row.getObject("read_up_to", UUID.class)),
        id == null ? Optional.empty() : Optional.of(answer(id, row)));
  }

  private static Answer answer(UUID id, ResultSet row) throws SQLException {
    Caller caller =
        new Caller(
            row.getObject("user_uuid", UUID.class),
            Optional.of(row.getString("tenant")).filter(name -> !name.isEmpty()),
            Optional.of(row.getString("project")).filter(name -> !name.isEmpty()));
    return new Answer(
        id,
        new OwnedResource(caller, ResourceId.of(row.getString("resource_id"))),
        Duration.ofMillis(row.getLong("age_millis")));
  }
}
