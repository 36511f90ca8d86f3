package io.github.grpcidempotency.postgres;

import com.google.rpc.Code;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.work.IdempotentWork;
import io.github.grpcidempotency.work.WorkResult;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;

/** Creates things without gRPC, as a scheduler or a message consumer would. */
final class ThingWork {
  private final IdempotentWork runner;
  private final Procedure kind;
  private final Jdbi jdbi;
  private final AtomicInteger runs = new AtomicInteger();

  /** Makes things with a runner that serves this kind. */
  ThingWork(IdempotentWork runner, Procedure kind, DataSource pool) {
    this.runner = runner;
    this.kind = kind;
    this.jdbi = Jdbi.create(pool);
  }

  /** Describes the work. */
  static Procedure kind(Execution execution) {
    return Procedure.named("jobs/make-thing")
        .resource(ResourceType.of("thing"), thing -> ResourceId.of(((Thing) thing).getId()))
        .execution(execution)
        .failures(FailurePolicy.releaseAll().withTerminal(Code.FAILED_PRECONDITION))
        .build();
  }

  /** Returns how often the work was really done. */
  int runs() {
    return runs.get();
  }

  /** Makes a thing, once for a token. */
  WorkResult<Thing> run(Execution execution, Caller caller, String token) throws Exception {
    return run(caller, token, request(), () -> make(execution, caller.userId()));
  }

  /** Runs other work, once for a token. */
  WorkResult<Thing> run(Caller caller, String token, CreateThingRequest input, Callable<Thing> work)
      throws Exception {
    return runner.run(
        kind,
        caller,
        token,
        input,
        Thing.parser(),
        () -> {
          runs.incrementAndGet();
          return work.call();
        });
  }

  /** Returns what every piece of work here is asked. */
  static CreateThingRequest request() {
    return CreateThingRequest.newBuilder().setName("made by work").build();
  }

  /** Makes a thing: through the claim's transaction, or in a separate one. */
  Thing make(Execution execution, UUID user) {
    Thing thing = ThingHandler.newThing(request());
    if (execution == Execution.TRANSACTIONAL) {
      ThingHandlers.insert(ClaimJdbi.handle(), thing);
    } else {
      jdbi.useTransaction(handle -> ThingHandlers.insert(handle, user, thing));
    }
    return thing;
  }
}
