package io.github.grpcidempotency.postgres.internal.operation;

import static java.util.stream.Collectors.groupingBy;

import com.google.common.collect.Lists;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.postgres.internal.claim.RecordFinder;
import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.Parameters;
import io.github.grpcidempotency.postgres.internal.sql.ProcedureSql;
import io.github.grpcidempotency.postgres.internal.sql.RecordRow;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.resource.OutboxQuery;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.spi.OperationCatalog.OwnedResource;
import io.github.grpcidempotency.spi.RecordedProcedure;
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
 * Queries an outbox for many resources at once. Row-level security restricts a query to one caller,
 * and a query plan may keep rows that it has read for one caller. So there is one query per caller,
 * and up to 64 queries share a flush, which is one round trip. Thread-safe.
 */
final class OutboxStatuses {
  /**
   * The sizes of a flush. There are only a few sizes, so that the driver prepares each statement
   * once. Unused places of a flush query for no user.
   */
  private static final List<Integer> SIZES = List.of(1, 8, 64);

  private static final int MOST = SIZES.get(SIZES.size() - 1);

  /** The caller of an unused place. */
  private static final Caller NOBODY = Caller.of(new UUID(0, 0));

  private final RecordDatabase database;
  private final Map<String, String> statements = new ConcurrentHashMap<>();

  private record Found(ResourceId resourceId, List<String> entries) {}

  OutboxStatuses(RecordDatabase database) {
    this.database = database;
  }

  /**
   * Returns the status of each resource, as its caller sees it. Resources whose status is unknown
   * are missing; empty if the procedure has no outbox.
   */
  Map<OwnedResource, IdempotencyStatus> of(
      RecordedProcedure procedure, Collection<OwnedResource> resources) {
    if (resources.isEmpty() || procedure.outbox().isEmpty()) {
      return Map.of();
    }
    OutboxQuery outbox = procedure.outbox().get();
    Map<OwnedResource, IdempotencyStatus> statuses = new HashMap<>();
    List<List<OwnedResource>> byCaller =
        List.copyOf(
            resources.stream().distinct().collect(groupingBy(OwnedResource::caller)).values());
    try {
      for (List<List<OwnedResource>> some : Lists.partition(byCaller, MOST)) {
        List<List<Found>> found = query(procedure, some);
        for (int place = 0; place < some.size(); place++) {
          Caller caller = some.get(place).get(0).caller();
          for (Found each : found.get(place)) {
            outbox
                .statusOf(each.entries(), false)
                .ifPresent(
                    status -> statuses.put(new OwnedResource(caller, each.resourceId()), status));
          }
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

  /** Returns what each caller's query found, and nothing in unused places. */
  private List<List<Found>> query(RecordedProcedure procedure, List<List<OwnedResource>> byCaller) {
    int size = SIZES.stream().filter(places -> places >= byCaller.size()).findFirst().orElseThrow();
    List<List<OwnedResource>> places = new ArrayList<>(byCaller);
    places.addAll(Collections.nCopies(size - byCaller.size(), List.of()));
    String sql = statements.computeIfAbsent(procedure.name(), name -> sql(procedure));
    return database.onConnection(
        connection ->
            StatementBatch.runForEach(
                connection, sql, places, OutboxStatuses::bind, OutboxStatuses::read));
  }

  private String sql(RecordedProcedure procedure) {
    return database
        .files()
        .with("type", database.sql(procedure).idType.sqlName())
        .with("settings", ProcedureSql.settings(procedure))
        .with("status", ProcedureSql.outboxOfEach(procedure).orElseThrow())
        .load("operation/statuses");
  }

  private static Parameters bind(Parameters values, List<OwnedResource> ofCaller) {
    return values
        .bindCaller(ofCaller.stream().findFirst().map(OwnedResource::caller).orElse(NOBODY))
        .bind(
            "resources",
            ofCaller.stream().map(each -> each.resourceId().toString()).toArray(String[]::new));
  }

  private static Found read(ResultSet row) throws SQLException {
    return new Found(ResourceId.of(row.getString("resource_id")), RecordRow.outboxStatus(row));
  }
}
