package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.fault.Gate;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.resource.OutboxQuery;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.work.IdempotentWork;
import io.github.grpcidempotency.work.WorkRefusedException;
import io.github.grpcidempotency.work.WorkResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Work that does not come by gRPC, with the same promises. */
class WorkTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final String TOKEN = "job:make-thing:2026-12-01T00:00:00Z";
  private static final Duration LONG_LEASE = Duration.ofMinutes(5);

  private final Caller caller = Caller.of(UUID.randomUUID());
  private final List<IdempotentWork> runners = new ArrayList<>();

  @AfterEach
  void everyConnectionIsGivenBack() {
    runners.forEach(IdempotentWork::close);
    database.awaitAllConnectionsBack();
  }

  @Test
  void theStatusIsProcessingFirstAndThenTheStatusInTheOutbox() throws Exception {
    Procedure kind =
        Procedure.named("jobs/make-thing")
            .execution(Execution.RESERVED)
            .resource(ResourceType.of("thing"), thing -> ResourceId.of(((Thing) thing).getId()))
            .status(
                OutboxQuery.of(PostgresThingServer.OUTBOX_QUERY)
                    .map(IdempotencyStatus.COMPLETED, "pending")
                    .build())
            .build();
    ThingWork work = work(database.app(), kind);

    assertThat(work.run(Execution.RESERVED, caller, TOKEN).status())
        .contains(IdempotencyStatus.PROCESSING);
    assertThat(work.run(Execution.RESERVED, caller, TOKEN).status())
        .contains(IdempotencyStatus.COMPLETED);
  }

  /** Even for a kind whose calls would fail open: the guarantee is at most once. */
  @ParameterizedTest
  @EnumSource(names = {"RESERVED", "TRANSACTIONAL"})
  void nothingIsRunWhileTheDatabaseIsOutOfReach(Execution execution) throws Exception {
    try (FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource proxied = PostgresThingServer.pool(proxy.jdbcUrl())) {
      ThingWork work = work(proxied, ThingWork.kind(execution));
      work.run(execution, caller, "to warm up");
      proxied.setConnectionTimeout(250);
      proxied.getHikariPoolMXBean().softEvictConnections(); // nothing of a claim is ever sent
      proxy.refuse();

      assertRefused(RefusalReason.STORE_UNAVAILABLE, () -> work.run(execution, caller, TOKEN));
      assertThat(work.runs()).isEqualTo(1);
    }
  }

  /** A job may make up for calls that its users might still repeat: one kind, one token. */
  @ParameterizedTest
  @EnumSource(names = {"RESERVED", "TRANSACTIONAL"})
  void aCallAndAPieceOfWorkOfOneKindAndTokenAreOneOperation(Execution execution) throws Exception {
    Procedure kind =
        Procedure.annotated(ThingServiceGrpc.getCreateThingMethod()).execution(execution).build();
    ThingWork work = work(database.newAppPool(), kind);
    try (Gate gate = Gate.shut(database.superuser());
        ThingServer server = PostgresThingServer.on(database.app()).execution(execution).start();
        ThingClient client = ThingClient.to(server.port())) {
      Caller user = Caller.of(client.user());
      CreateThingRequest request = Things.waitingAt(gate);
      Callable<WorkResult<Thing>> asWork =
          () -> work.run(user, client.key(), request, () -> work.make(execution, user.userId()));
      CompletableFuture<Reply> call = client.startThing(request);
      gate.awaitWaiting(1);
      assertRefused(RefusalReason.IN_PROGRESS, asWork);
      gate.open();

      Thing called = call.join().thing();
      assertThat(asWork.call().value()).isEqualTo(called);
      assertThat(work.runs()).isZero();

      ThingClient another = client.withNewKey();
      WorkResult<Thing> worked =
          work.run(user, another.key(), request, () -> work.make(execution, user.userId()));
      Reply replay = another.createThing(request);
      assertThat(replay.isReplay()).isTrue();
      assertThat(replay.thing()).isEqualTo(worked.value());
      assertThat(server.runs()).isEqualTo(1);
    }
  }

  private ThingWork work(DataSource pool, Procedure kind) {
    IdempotentWork runner =
        IdempotentWork.builder(
                PostgresIdempotencyStore.builder(pool).lease(LONG_LEASE).build(), kind)
            .build();
    runners.add(runner);
    return new ThingWork(runner, kind, pool);
  }

  private static void assertRefused(RefusalReason reason, Callable<WorkResult<Thing>> work) {
    assertThatExceptionOfType(WorkRefusedException.class)
        .isThrownBy(work::call)
        .satisfies(refused -> assertThat(refused.reason()).isEqualTo(reason));
  }
}
