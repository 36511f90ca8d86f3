package io.github.grpcidempotency.fault;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/**
 * Creates things, and knows nothing of idempotency. A request's labels say how it behaves: {@code
 * gate} names a {@link Gate} to wait at, {@code fail} says that it ends with an error.
 */
final class ThingService extends ThingServiceGrpc.ThingServiceImplBase {
  static final String GATE = "gate";
  static final String FAIL = "fail";

  private final Jdbi jdbi;
  private final Consumer<String> printer;
  private final AtomicInteger runs = new AtomicInteger();

  ThingService(DataSource pool, Consumer<String> printer) {
    this.jdbi = Jdbi.create(pool);
    this.printer = printer;
  }

  int runs() {
    return runs.get();
  }

  @Override
  public void createThing(CreateThingRequest request, StreamObserver<Thing> answer) {
    begin();
    UUID id = UUID.randomUUID();
    Caller caller = ThingServer.CALLER.get();
    if (request.containsLabels(GATE)) {
      jdbi.useHandle(handle -> Gate.pass(handle, request.getLabelsOrThrow(GATE)));
    }
    if (request.containsLabels(FAIL)) {
      answer.onError(Status.INTERNAL.withDescription("as asked for").asRuntimeException());
      return;
    }
    jdbi.useTransaction(handle -> insert(handle, caller.userId(), id, request.getName()));
    end(answer, id, request);
  }

  @Override
  public void createOther(CreateThingRequest request, StreamObserver<Thing> answer) {
    begin();
    end(answer, UUID.randomUUID(), request);
  }

  private void begin() {
    runs.incrementAndGet();
    printer.accept("ran");
  }

  private static void insert(Handle handle, UUID user, UUID id, String name) {
    handle
        .createUpdate(
            """
            WITH caller AS (
              SELECT set_config('app.current_user_id', :user, true)
            )
            INSERT INTO app.things (id, user_id, name)
            SELECT :id, CAST(set_config AS uuid), :name FROM caller
            """)
        .bind("user", user.toString())
        .bind("id", id)
        .bind("name", name)
        .execute();
    handle
        .createUpdate("INSERT INTO app.outbox (thing_id, status) VALUES (:id, 'pending')")
        .bind("id", id)
        .execute();
  }

  private static void end(StreamObserver<Thing> answer, UUID id, CreateThingRequest request) {
    answer.onNext(Thing.newBuilder().setId(id.toString()).setName(request.getName()).build());
    answer.onCompleted();
  }
}
