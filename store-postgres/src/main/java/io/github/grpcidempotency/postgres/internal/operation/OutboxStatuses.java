package io.github.grpcidempotency.postgres.internal.operation;

import static java.util.stream.Collectors.groupingBy;

import com.google.common.collect.Lists;
import io.github.grpcidempotency.postgres.internal.claim.RecordFinder;
import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.Parameters;
import io.github.grpcidempotency.postgres.internal.sql.ProcedureSql;
import io.github.grpcidempotency.postgres.internal.sql.RecordRow;
import io.github.grpcidempotency.postgres.internal.sql.SqlFile;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.resource.OutboxQuery;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.store.OperationCatalog.OwnedResource;
import io.github.grpcidempotency.store.RecordedProcedure;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jdbi.v3.core.JdbiException;

/**
 * Queries an outbox for many resources at once. Row-level security restricts a query to one user,
 * and a query plan may keep rows that it has read for one user. So there is one query per user, and
 * up to 64 queries share a flush, which is one round trip. Thread-safe.
 */
final class OutboxStatuses {
  /**
   * The sizes of a flush. There are only a few sizes, so that the driver prepares each statement
   * once. Unused places of a flush query for no user.
   */
  private static final List<Integer> SIZES = List.of(1, 8, 64);

  private static final int MOST = SIZES.get(SIZES.size() - 1);

  private final RecordDatabase database;
  private final Map<String, String> statements = new ConcurrentHashMap<>();

  private record Found(OwnedResource resource, List<String> entries) {}

  OutboxStatuses(RecordDatabase database) {
    this.database = database;
  }

  /**
   * Returns the status of each resource, as its user sees it. Resources whose status is unknown are
   * missing; empty if the procedure has no outbox.
   */
  Map<OwnedResource, IdempotencyStatus> of(
      RecordedProcedure procedure, Collection<OwnedResource> resources) {
    if (resources.isEmpty() || procedure.outbox().isEmpty()) {
      return Map.of();
    }
    OutboxQuery outbox = procedure.outbox().get();
    Map<OwnedResource, IdempotencyStatus> statuses = new HashMap<>();
    List<List<OwnedResource>> byUser =
        List.copyOf(
            resources.stream().distinct().collect(groupingBy(OwnedResource::userId)).values());
    try {
      for (List<List<OwnedResource>> users : Lists.partition(byUser, MOST)) {
        for (Found found : query(procedure, users)) {
          outbox
              .statusOf(found.entries())
              .ifPresent(status -> statuses.put(found.resource(), status));
        }
      }
    } catch (JdbiException failure) {
      if (!RecordFinder.mayBeTheOutbox(failure)) {
        throw Failures.of("could not query the outbox", failure);
      }
      database.statusUnknown(procedure, Optional.empty(), failure);
    }
    return statuses;
  }

  private List<Found> query(RecordedProcedure procedure, List<List<OwnedResource>> users) {
    int size = SIZES.stream().filter(places -> places >= users.size()).findFirst().orElseThrow();
    List<List<OwnedResource>> places = new ArrayList<>(users);
    places.addAll(Collections.nCopies(size - users.size(), List.of()));
    String sql = statements.computeIfAbsent(procedure.name(), name -> sql(procedure));
    return database
        .onConnection(
            connection ->
                StatementBatch.runForEach(
                    connection, sql, places, OutboxStatuses::bind, OutboxStatuses::read))
        .stream()
        .flatMap(List::stream)
        .toList();
  }

  private String sql(RecordedProcedure procedure) {
    return SqlFile.load(
        "operation/statuses",
        Map.of(
            "type", database.sql(procedure).idType.sqlName(),
            "status", ProcedureSql.outboxOfEach(procedure).orElseThrow()));
  }

  private static Parameters bind(Parameters values, List<OwnedResource> ofUser) {
    return values
        .bind("user", ofUser.isEmpty() ? "" : ofUser.get(0).userId().toString())
        .bind(
            "resources",
            ofUser.stream().map(each -> each.resourceId().toString()).toArray(String[]::new));
  }

  private static Found read(ResultSet row) throws SQLException {
    return new Found(
        new OwnedResource(
            UUID.fromString(row.getString("user_id")), ResourceId.of(row.getString("resource_id"))),
        RecordRow.outboxStatus(row));
  }
}
