package io.github.grpcidempotency.postgres;

import static io.github.grpcidempotency.postgres.OperationsClient.metadata;
import static io.github.grpcidempotency.postgres.OperationsClient.nameOf;
import static io.github.grpcidempotency.postgres.OperationsClient.reason;
import static io.github.grpcidempotency.postgres.OperationsClient.refused;
import static io.github.grpcidempotency.postgres.OperationsClient.state;
import static io.github.grpcidempotency.postgres.OperationsClient.work;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.longrunning.CancelOperationRequest;
import com.google.longrunning.ListOperationsResponse;
import com.google.longrunning.Operation;
import com.google.rpc.Code;
import io.github.grpcidempotency.event.CallEvent;
import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.fault.Gate;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.proto.v1.OperationMetadata.State;
import io.github.grpcidempotency.resource.OutboxQuery;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.test.LogLines;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.EventJournal;
import io.github.grpcidempotency.thing.GrpcCleanupExtension;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Operations that a client finds by the ids in their trailers. */
class OperationsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final CreateThingRequest REQUEST = Things.named("a thing");
  private static final String CREATE_THING = ThingServer.CREATE_THING.getFullMethodName();

  private static final ThingServer server =
      database.closing(PostgresThingServer.on(database.app()).withServices().start());

  @RegisterExtension final GrpcCleanupExtension grpc = new GrpcCleanupExtension();
  private final ThingClient client = ThingClient.on(server.channel());
  private final OperationsClient operations = OperationsClient.of(client);

  /** Starts a server, and returns a new user of it. */
  private ThingClient clientOf(PostgresThingServer.Builder builder) {
    ThingServer started = grpc.registerCloseable(builder.withServices().start());
    return grpc.registerCloseable(ThingClient.to(started.port()));
  }

  @Test
  void anOperationIsDoneWhenTheWorkBehindItsAnswerHasCompleted() throws Exception {
    Reply reply = client.createThing(REQUEST);

    Operation begun = operations.get(nameOf(reply));
    assertThat(begun.getName()).isEqualTo(nameOf(reply));
    assertThat(begun.getDone()).isFalse();
    assertThat(begun.getResultCase()).isEqualTo(Operation.ResultCase.RESULT_NOT_SET);
    assertThat(state(begun)).isEqualTo(State.STATE_PROCESSING);
    assertThat(metadata(begun).getProcedure()).isEqualTo(CREATE_THING);
    assertThat(metadata(begun).getAnswerTime().getSeconds())
        .isGreaterThanOrEqualTo(metadata(begun).getCreateTime().getSeconds());
    assertThat(metadata(begun).getExpireTime().getSeconds())
        .isEqualTo(Instant.parse(reply.expires().orElseThrow()).getEpochSecond());
    work(database, reply, "done");

    Operation ended = operations.get(nameOf(reply));
    assertThat(ended.getDone()).isTrue();
    assertThat(ended.getResponse().unpack(Thing.class)).isEqualTo(reply.thing());
    assertThat(state(ended)).isEqualTo(State.STATE_COMPLETED);
  }

  @Test
  void workThatHasFailedEndsAnOperationWithTheResponseThatWasGiven() throws Exception {
    Reply reply = client.createThing(REQUEST);
    work(database, reply, "failed");

    Operation ended = operations.get(nameOf(reply));

    assertThat(ended.getDone()).isTrue();
    assertThat(ended.getResponse().unpack(Thing.class)).isEqualTo(reply.thing());
    assertThat(state(ended)).isEqualTo(State.STATE_FAILED);
  }

  @Test
  void aRecordedErrorIsTheResult() {
    clientOf(
            PostgresThingServer.on(database.app())
                .createThing(
                    thing ->
                        thing.failures(FailurePolicy.releaseAll().withTerminal(Code.INTERNAL))))
        .like(client)
        .createThing(REQUEST.toBuilder().putLabels("fail", "").build());

    Operation ended = operations.list("").get(0);

    assertThat(operations.get(ended.getName())).isEqualTo(ended);
    assertThat(ended.getDone()).isTrue();
    assertThat(ended.getError().getCode()).isEqualTo(Status.Code.INTERNAL.value());
    assertThat(ended.getError().getMessage()).isEqualTo("as asked for");
    assertThat(state(ended)).isEqualTo(State.STATE_FAILED);
  }

  @Test
  void withoutAsynchronousWorkAnOperationIsDoneOnceItIsAnswered() throws Exception {
    Reply reply = client.createOther(REQUEST);

    Operation ended = operations.get(nameOf(reply));

    assertThat(ended.getDone()).isTrue();
    assertThat(ended.getResponse().unpack(Thing.class)).isEqualTo(reply.thing());
  }

  @Test
  void aRefusalAsInProgressNamesTheOperation() {
    try (Gate gate = Gate.shut(database.superuser())) {
      CompletableFuture<Reply> running = client.startThing(Things.waitingAt(gate));
      gate.awaitWaiting(1);

      Reply refused = client.createThing(Things.waitingAt(gate));
      Reply refusedElsewhere =
          clientOf(PostgresThingServer.on(database.newAppPool()))
              .like(client)
              .createThing(Things.waitingAt(gate));

      assertThat(refused.reason()).isEqualTo(Things.IN_PROGRESS);
      assertThat(refused.reasonMetadata()).containsEntry("operation", nameOf(refused));
      assertThat(refusedElsewhere.operation()).isEqualTo(refused.operation());
      assertThat(state(operations.get(nameOf(refused)))).isEqualTo(State.STATE_RUNNING);
      gate.open();
      assertThat(running.join().operation()).isEqualTo(refused.operation());
    }
  }

  @Test
  void anOperationWhoseServerIsGoneIsAbandoned() {
    Claim claim =
        Things.win(
            PostgresIdempotencyStore.builder(database.app()).lease(Duration.ofMillis(100)).build(),
            Things.claimOf(client, REQUEST));

    await()
        .until(
            () -> state(operations.get(claim.operationId().toString())) == State.STATE_ABANDONED);
  }

  @Test
  void anOperationWithAnUnknownOutcomeHasTheStateUnknown() {
    Claim claim =
        Things.win(
            PostgresIdempotencyStore.builder(database.app()).build(),
            Things.claimOf(client, REQUEST));
    assertThat(claim.markUnknown()).isEqualTo(Claim.Settled.DONE);

    assertThat(state(operations.get(claim.operationId().toString())))
        .isEqualTo(State.STATE_UNKNOWN);
  }

  @Test
  void unknownOperationsAndThoseOfOtherCallersGetTheSameAnswer() {
    String name = nameOf(client.createThing(REQUEST));
    StatusRuntimeException absent = refused(() -> operations.get(UUID.randomUUID().toString()));

    assertThat(absent.getStatus().getCode()).isEqualTo(Status.Code.NOT_FOUND);
    assertThat(reason(absent)).isEqualTo("IDEMPOTENCY_OPERATION_UNKNOWN");
    OperationsClient stranger = OperationsClient.of(client.as(UUID.randomUUID()));
    OperationsClient inTenant = OperationsClient.of(client.in("acme"));
    for (StatusRuntimeException other :
        List.of(
            refused(() -> stranger.get(name)),
            refused(() -> stranger.delete(name)),
            refused(() -> stranger.await(name, Duration.ofSeconds(1))),
            refused(() -> inTenant.get(name)),
            refused(() -> inTenant.delete(name)),
            refused(() -> operations.get(name.toUpperCase(Locale.ROOT))),
            refused(() -> operations.get("operations/" + name)),
            refused(() -> operations.get("")))) {
      assertThat(other).hasMessage(absent.getMessage());
      assertThat(reason(other)).isEqualTo(reason(absent));
    }
    assertThat(stranger.list("")).isEmpty();
    assertThat(inTenant.list("")).isEmpty();
    assertThat(
            refused(() -> OperationsClient.of(client.withoutUser()).get(name))
                .getStatus()
                .getCode())
        .isEqualTo(Status.Code.UNAUTHENTICATED);
  }

  @Test
  void aCallerWhoIsDeniedAReplayGetsNoAnswer() {
    ThingClient denied =
        clientOf(
            PostgresThingServer.on(database.app())
                .createThing(thing -> thing.guard((caller, resource) -> false)));
    OperationsClient its = OperationsClient.of(denied);
    Reply reply = denied.createThing(REQUEST);
    work(database, reply, "done");

    StatusRuntimeException refused = refused(() -> its.get(nameOf(reply)));

    assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.PERMISSION_DENIED);
    assertThat(reason(refused)).isEqualTo("IDEMPOTENCY_REPLAY_DENIED");
    assertThat(its.list(""))
        .singleElement()
        .satisfies(
            listed -> {
              assertThat(listed.getDone()).isTrue();
              assertThat(listed.getResultCase()).isEqualTo(Operation.ResultCase.RESULT_NOT_SET);
            });
    its.delete(nameOf(reply));
    assertThat(its.list("")).isEmpty();
  }

  @Test
  void aListIsFilteredByProcedureStateAndWhetherItIsDone() {
    Reply processing = client.withNewKey().createThing(REQUEST);
    Reply completed = client.withNewKey().createThing(REQUEST);
    Reply failed = client.withNewKey().createThing(REQUEST);
    Reply other = client.withNewKey().createOther(REQUEST);
    work(database, completed, "done");
    work(database, failed, "failed");

    assertThat(names("state = PROCESSING")).containsExactly(nameOf(processing));
    assertThat(names("state = \"STATE_FAILED\"")).containsExactly(nameOf(failed));
    assertThat(names("done=true AND procedure=\"" + CREATE_THING + "\""))
        .containsExactly(nameOf(failed), nameOf(completed));
    assertThat(names("procedure = " + ThingServer.CREATE_OTHER.getFullMethodName()))
        .containsExactly(nameOf(other));
    assertThat(names("procedure = \"no.such/Method\"")).isEmpty();
    assertThat(names("done = true AND state = RUNNING")).isEmpty();
    assertThat(names("  ")).hasSize(4);
  }

  @Test
  void anEmptyPageOfALongListHasATokenForTheNextOne() {
    client.createThing(REQUEST);
    database.execute(
        """
        INSERT INTO idempotency.idempotency_keys
          (id, idempotency_key, user_uuid, procedure, request_hash, hash_version,
           response_bytes, completed, expires)
        SELECT ('ffffffff-ffff-7fff-bfff-' || lpad(n::text, 12, '0'))::uuid, 'k' || n, ?, ?,
               '', 1, '', now(), now() + interval '1 day'
          FROM generate_series(1, 1500) AS n
        """,
        client.user(),
        ThingServer.CREATE_OTHER.getFullMethodName());

    ListOperationsResponse first = operations.list("state = PROCESSING", 10, "");
    assertThat(first.getOperationsList()).isEmpty();
    ListOperationsResponse second =
        operations.list("state = PROCESSING", 10, first.getNextPageToken());
    assertThat(second.getOperationsList()).hasSize(1);
    assertThat(second.getNextPageToken()).isEmpty();
  }

  @Test
  void noPageIsLargerThanItsLimitUnlessOneOperationIs() {
    int limit = 1 << 20;
    for (int bytes : List.of(limit - 100, limit * 3 / 5, limit * 3 / 5)) {
      client.withNewKey().createOther(Things.named("x".repeat(bytes)));
    }

    ListOperationsResponse newest = operations.list("", 10, "");
    ListOperationsResponse second = operations.list("", 10, newest.getNextPageToken());
    ListOperationsResponse oldest = operations.list("", 10, second.getNextPageToken());

    assertThat(List.of(newest, second, oldest))
        .allSatisfy(page -> assertThat(page.getOperationsList()).hasSize(1));
    assertThat(List.of(newest, second))
        .allSatisfy(page -> assertThat(page.getSerializedSize()).isLessThan(limit));
    assertThat(oldest.getOperations(0).getSerializedSize()).isGreaterThan(limit);
    assertThat(oldest.getNextPageToken()).isEmpty();
  }

  @Test
  void anInvalidFilterIsRefused() {
    StatusRuntimeException refused = refused(() -> operations.list("state = DREAMING"));

    assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    assertThat(refused.getStatus().getDescription()).contains("; an example: procedure = ");
  }

  @Test
  void anInvalidTokenAndOneOfAnotherFilterAreRefused() {
    client.withNewKey().createThing(REQUEST);
    client.withNewKey().createThing(REQUEST);
    String token = operations.list("", 1, "").getNextPageToken();

    for (StatusRuntimeException refused :
        List.of(
            refused(() -> operations.list("", 1, "!")),
            refused(() -> operations.list("", 1, "abcd")),
            refused(() -> operations.list("done = true", 1, token)),
            refused(() -> operations.list("", -1, "")))) {
      assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    }
  }

  @Test
  void aServerWithoutTheIndexOfListsLogsAWarning() {
    try (LogLines log = LogLines.listen()) {
      clientOf(PostgresThingServer.on(database.app()));
      assertThat(log.warnings()).anyMatch(line -> line.contains("add_operation_index()"));
    }
    database.execute("SELECT idempotency.add_operation_index()");
    try (LogLines log = LogLines.listen()) {
      clientOf(PostgresThingServer.on(database.app()));
      assertThat(log.warnings()).isEmpty();
    }
  }

  @Test
  void aDoneOperationIsForgottenAndItsKeyIsFree() {
    Reply first = client.createThing(REQUEST);
    assertThat(reason(refused(() -> operations.delete(nameOf(first)))))
        .isEqualTo("IDEMPOTENCY_OPERATION_UNFINISHED");
    assertThat(client.createThing(REQUEST).isReplay()).isTrue();
    work(database, first, "done");

    operations.delete(nameOf(first));

    assertThat(reason(refused(() -> operations.delete(nameOf(first)))))
        .isEqualTo("IDEMPOTENCY_OPERATION_UNKNOWN");
    Reply second = client.createThing(REQUEST);
    assertThat(second.isReplay()).isFalse();
    assertThat(second.operation()).isNotEqualTo(first.operation());
  }

  @Test
  void anOperationIsNotCancelled() {
    StatusRuntimeException refused =
        refused(
            () -> {
              var unused =
                  operations.stub().cancelOperation(CancelOperationRequest.getDefaultInstance());
            });

    assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.UNIMPLEMENTED);
    assertThat(refused.getStatus().getDescription()).contains("cannot be cancelled");
  }

  @Test
  void anOutboxQueryThatFailsIsReportedAndTheStatusIsProcessing() {
    EventJournal journal = new EventJournal();
    ThingClient broken =
        clientOf(
            PostgresThingServer.on(database.app())
                .listener(journal.listener())
                .outbox(
                    OutboxQuery.of(
                        "SELECT (1 / length(substr(status, 8)))::text FROM app.outbox"
                            + " WHERE thing_id = :resource_id")));
    Reply reply = broken.createThing(REQUEST);

    assertThat(state(OperationsClient.of(broken).get(nameOf(reply))))
        .isEqualTo(State.STATE_PROCESSING);
    assertThat(journal.only(Kind.STATUS_UNKNOWN, CallEvent.class).entry())
        .isEqualTo(Entry.OPERATIONS);
  }

  @Test
  void anUnavailableDatabaseIsReported() {
    ThingClient cutOff;
    try (TestDatabase mortal = TestDatabase.create()) {
      cutOff = clientOf(PostgresThingServer.on(mortal.app()).connections(mortal.app()));
    }

    StatusRuntimeException refused =
        refused(() -> OperationsClient.of(cutOff).get(UUID.randomUUID().toString()));

    assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
    assertThat(reason(refused)).isEqualTo(Things.STORE_UNAVAILABLE);
  }

  private List<String> names(String filter) {
    return operations.list(filter).stream().map(Operation::getName).toList();
  }
}
