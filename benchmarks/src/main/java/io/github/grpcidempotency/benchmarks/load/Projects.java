package io.github.grpcidempotency.benchmarks.load;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.benchmarks.service.BenchmarkServer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.PreparedBatch;

/** Projects for records to refer to, made in advance and handed out in turn. Thread-safe. */
public final class Projects implements Supplier<UUID> {
  private final List<UUID> ids = new ArrayList<>();
  private final AtomicInteger next = new AtomicInteger();

  /** Makes so many. */
  public Projects(Jdbi superuser, int count) {
    superuser.useHandle(
        handle -> {
          PreparedBatch batch =
              handle.prepareBatch(
                  "INSERT INTO app.project (id, user_id, name) VALUES (:id, :user, 'a project')");
          for (int i = 0; i < count; i++) {
            UUID id = UuidCreator.getTimeOrderedEpoch();
            ids.add(id);
            batch.bind("id", id).bind("user", BenchmarkServer.USER).add();
          }
          int[] unused = batch.execute();
        });
  }

  @Override
  public UUID get() {
    return ids.get(Math.floorMod(next.getAndIncrement(), ids.size()));
  }
}
