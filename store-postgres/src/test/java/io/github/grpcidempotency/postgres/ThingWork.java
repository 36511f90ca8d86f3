package io.github.grpcidempotency.postgres;

import com.google.rpc.Code;
import io.github.grpcidempotency.fault.Gate;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ResourceId;
import io.github.grpcidempotency.procedure.ResourceType;
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
  /** How the work joins its effect and its record, and where it waits. */
  enum Style {
    /** Waits, and then writes in a separate transaction. */
    PLAIN,
    /** Writes and completes in a separate transaction, and then waits. */
    COMPLETING,
    /** Waits, and then writes and completes in a separate transaction. */
    LATE_COMPLETING,
    /** Writes through the claim's transaction, and then waits. */
    TRANSACTIONAL
  }

  private static final String NO_GATE = "";

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

  /** Returns the style that goes with an execution. */
  static Style styleOf(Execution execution) {
    return execution == Execution.TRANSACTIONAL ? Style.TRANSACTIONAL : Style.PLAIN;
  }

  /** Returns how often the work was really done. */
  int runs() {
    return runs.get();
  }

  /** Makes a thing, once for a token. */
  WorkResult<Thing> run(Style style, Caller caller, String token) throws Exception {
    return run(style, caller, token, NO_GATE);
  }

  /** Makes a thing, once for a token, and waits at a gate meanwhile. */
  WorkResult<Thing> run(Style style, Caller caller, String token, String gate) throws Exception {
    return run(caller, token, request(), () -> make(style, caller.userId(), gate));
  }

  /** Does something else, once for a token. */
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

  /** Makes a thing. */
  Thing make(Style style, UUID user, String gate) {
    Thing thing = ThingHandler.newThing(request());
    switch (style) {
      case PLAIN -> {
        waitAt(gate);
        jdbi.useTransaction(handle -> ThingHandlers.insert(handle, user, thing));
      }
      case COMPLETING -> {
        complete(user, thing);
        waitAt(gate);
      }
      case LATE_COMPLETING -> {
        waitAt(gate);
        complete(user, thing);
      }
      case TRANSACTIONAL -> {
        ThingHandlers.insert(ClaimTransaction.handle(), thing);
        if (!gate.equals(NO_GATE)) {
          Gate.pass(ClaimTransaction.handle(), gate);
        }
      }
    }
    return thing;
  }

  private void complete(UUID user, Thing thing) {
    jdbi.useTransaction(
        handle -> {
          ThingHandlers.insert(handle, user, thing);
          TransactionalCompletion.completeAndCommit(handle, thing);
        });
  }

  private void waitAt(String gate) {
    if (!gate.equals(NO_GATE)) {
      jdbi.useHandle(handle -> Gate.pass(handle, gate));
    }
  }
}
