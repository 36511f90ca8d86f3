package io.github.grpcidempotency.benchmarks.scenario;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.benchmarks.service.BenchmarkServer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.function.Supplier;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.PreparedBatch;

/** Projects that records refer to, each used once. Thread-safe. */
public final class Projects implements Supplier<UUID> {
  private static final int BATCH = 500;

  private final Jdbi superuser;
  private final Queue<UUID> left;

  /** Creates some projects in advance, and more when they are used up. */
  public Projects(Jdbi superuser, int ahead) {
    this.superuser = superuser;
    this.left = new ArrayDeque<>(make(superuser, ahead));
  }

  @Override
  public synchronized UUID get() {
    if (left.isEmpty()) {
      left.addAll(make(superuser, BATCH));
    }
    return left.remove();
  }

  /** Creates some projects. */
  public static List<UUID> make(Jdbi superuser, int count) {
    List<UUID> ids = new ArrayList<>();
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
    return ids;
  }
}
