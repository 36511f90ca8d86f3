package io.github.grpcidempotency.spring.boot;

import com.google.protobuf.Empty;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.DeleteThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingService;
import io.grpc.stub.StreamObserver;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

/** Handlers that write as Spring applications do, and count their runs. */
class Things extends ThingServiceGrpc.ThingServiceImplBase {
  /** What deletes do. */
  interface Deletion {
    void run(String id, StreamObserver<Empty> answer);
  }

  private volatile JdbcTemplate jdbc;
  private final AtomicInteger runs = new AtomicInteger();
  private final BlockingQueue<StreamObserver<Empty>> running = new LinkedBlockingQueue<>();
  private volatile Deletion deletion = (id, answer) -> ThingService.answer(answer);

  Things(JdbcTemplate jdbc) {
    this.jdbc = jdbc;
  }

  int runs() {
    return runs.get();
  }

  /** Writes elsewhere from now on. */
  void writeThrough(JdbcTemplate other) {
    jdbc = other;
  }

  void handleDeletes(Deletion handler) {
    deletion = handler;
  }

  /** Leaves deletes unanswered. */
  void keepDeletesRunning() {
    deletion = (id, answer) -> running.add(answer);
  }

  StreamObserver<Empty> nextRunning() throws InterruptedException {
    return running.take();
  }

  @Override
  public void createThing(CreateThingRequest request, StreamObserver<Thing> answer) {
    runs.incrementAndGet();
    ThingHandler.answer(answer, ThingHandler.newThing(request));
  }

  /** Writes by Spring's own means, and fails after that if it is asked to. */
  @Override
  @Transactional
  public void createOther(CreateThingRequest request, StreamObserver<Thing> answer) {
    runs.incrementAndGet();
    Thing thing = ThingHandler.newThing(request);
    jdbc.update(
        "INSERT INTO app.things (id, user_id, name)"
            + " VALUES (?, current_setting('app.current_user_id')::uuid, ?)",
        UUID.fromString(thing.getId()),
        thing.getName());
    if (request.getName().equals("fail")) {
      throw new IllegalStateException("as asked for");
    }
    ThingHandler.answer(answer, thing);
  }

  @Override
  public void deleteThing(DeleteThingRequest request, StreamObserver<Empty> answer) {
    runs.incrementAndGet();
    deletion.run(request.getId(), answer);
  }
}
