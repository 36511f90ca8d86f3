package io.github.grpcidempotency.postgres;

import static io.github.grpcidempotency.resource.IdempotencyStatus.COMPLETED;
import static io.github.grpcidempotency.resource.IdempotencyStatus.FAILED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.Int64Value;
import com.google.protobuf.StringValue;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.resource.OutboxQuery;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.OperationCatalog.OwnedResource;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.spi.ResourceIdType;
import io.github.grpcidempotency.store.SetupException;
import io.github.grpcidempotency.test.LogLines;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.protobuf.ProtoUtils;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Records refer to resources with ids of every type that a column can have. */
class ResourceIdTypesTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  /** A store that has checked all procedures at once. */
  private static PostgresIdempotencyStore verified;

  private final Caller caller = Caller.of(UUID.randomUUID());

  /**
   * The type of a table's ids, an id as a service writes it and as the database returns it, and
   * another id.
   */
  @SuppressWarnings("ImmutableEnumChecker") // its values do not change
  enum Kind {
    UUID(
        "uuid",
        "019303CD-3F00-7000-8000-0000000000AA",
        "019303cd-3f00-7000-8000-0000000000aa",
        "019303cd-3f00-7000-8000-0000000000ab"),
    BIGINT("bigint", "+9223372036854775807", "9223372036854775807", "0"),
    INTEGER("integer", "-2147483648", "-2147483648", "2147483647"),
    TEXT("text", "orders/Ö:'7", "orders/Ö:'7", "orders/8"),
    VARCHAR("varchar(40)", "A-7", "A-7", "A-8");

    final String sql;
    final String written;
    final ResourceId id;
    final ResourceId missing;
    final ResourceType type = ResourceType.of("kind_" + name().toLowerCase(Locale.ROOT));

    Kind(String sql, String written, String returned, String missing) {
      this.sql = sql;
      this.written = written;
      this.id = ResourceId.of(returned);
      this.missing = ResourceId.of(missing);
    }

    ResourceIdType idType() {
      return this == VARCHAR ? ResourceIdType.TEXT : ResourceIdType.valueOf(name());
    }

    String table() {
      return "app." + type.name();
    }

    OutboxQuery outbox() {
      return OutboxQuery.of(
              "SELECT status FROM %s WHERE id = :resource_id LIMIT 1".formatted(table()))
          .map(COMPLETED, "done")
          .whenAbsent(FAILED)
          .build();
    }

    ProcedureBuilder<?> creation(Execution execution) {
      return Procedure.named("jobs/make-" + name() + "-" + execution)
          .execution(execution)
          .resource(type, "id")
          .status(outbox());
    }

    Procedure deletion() {
      return Procedure.named("jobs/delete-" + name())
          .execution(Execution.RESERVED)
          .deletes(type, "id")
          .build();
    }
  }

  @ParameterizedTest
  @EnumSource
  void aFieldOfIntegersNeedsAColumnOfIntegers(Kind kind) {
    RecordedProcedure procedure =
        RecordedProcedure.of(
            Procedure.of(
                    ThingServer.CREATE_THING.toBuilder(
                            ProtoUtils.marshaller(StringValue.getDefaultInstance()),
                            ProtoUtils.marshaller(Int64Value.getDefaultInstance()))
                        .build())
                .execution(Execution.RESERVED)
                .resource(kind.type, "value")
                .build());

    if (kind == Kind.BIGINT || kind == Kind.INTEGER) {
      store().verify(List.of(procedure), Optional.empty());
    } else {
      assertThatThrownBy(() -> store().verify(List.of(procedure), Optional.empty()))
          .isInstanceOf(SetupException.class)
          .hasMessageContaining("the field \"int64 value\"")
          .hasMessageContaining(
              "%s_id has the type %s".formatted(kind.type.name(), kind.idType().sqlName()));
    }
  }

  @Test
  void aColumnOfAnotherTypeIsReportedAtStartUp() {
    execute("ALTER TABLE idempotency.idempotency_keys ADD COLUMN odd_id numeric");
    execute("INSERT INTO idempotency.idempotency_facts VALUES ('odd_id', 'not enforced')");
    RecordedProcedure procedure =
        RecordedProcedure.of(
            Procedure.named("jobs/make")
                .execution(Execution.RESERVED)
                .resource(ResourceType.of("odd"), "id")
                .build());

    assertThatThrownBy(() -> store().verify(List.of(procedure), Optional.empty()))
        .hasMessageContaining("odd_id has the type numeric");
  }

  @Test
  void aTypeWithoutATableIsOfTheTypeThatTheMigrationNames() {
    execute(
        "SELECT idempotency.add_resource_type('free', NULL, enforced => false, id_type =>"
            + " 'bigint')");
    Procedure procedure =
        Procedure.named("jobs/make-free")
            .execution(Execution.RESERVED)
            .resource(ResourceType.of("free"), "id")
            .build();

    assertThat(Things.win(store(), request(procedure)).resourceIdType())
        .isEqualTo(ResourceIdType.BIGINT);
  }

  /** The name of the thing is the id, in a string field. */
  @Test
  void aCallRefersToANumberInItsResponseAndIsRebuiltFromItsRow() {
    try (ThingServer server =
            PostgresThingServer.on(database.app())
                .createThing(
                    thing ->
                        thing
                            .resource(Kind.BIGINT.type, "name")
                            .status(Kind.BIGINT.outbox())
                            .rebuild(
                                (caller, id) ->
                                    Optional.of(
                                        Thing.newBuilder()
                                            .setName("rebuilt from " + id.asLong())
                                            .build())))
                .start();
        LogLines log = LogLines.listen()) {
      execute("INSERT INTO app.kind_bigint VALUES (4711, 'done')");
      ThingClient client = ThingClient.on(server.channel());

      assertThat(client.createThing(Things.named("4711")).operationStatus()).contains("processing");
      Reply replay = client.createThing(Things.named("4711"));
      assertThat(replay.thing().getName()).isEqualTo("rebuilt from 4711");
      assertThat(replay.operationStatus()).contains("completed");
      execute("DELETE FROM app.kind_bigint WHERE id = 4711");
      assertThat(client.createThing(Things.named("4711")).reason())
          .isEqualTo("IDEMPOTENCY_RESOURCE_GONE");

      ThingClient another = ThingClient.on(server.channel());
      assertThat(another.createThing(Things.named("no number")).operationStatus()).isEmpty();
      assertThat(another.createThing(Things.named("no number")).operationStatus()).isEmpty();
      assertThat(log.warnings())
          .singleElement()
          .asString()
          .contains("the response contains no id of the type bigint")
          .doesNotContain("no number");
    }
  }

  @BeforeAll
  static void createTables() {
    for (Kind kind : Kind.values()) {
      execute("CREATE TABLE %s (id %s PRIMARY KEY, status text)".formatted(kind.table(), kind.sql));
      execute("GRANT SELECT ON %s TO things_app".formatted(kind.table()));
      execute(
          "SELECT idempotency.add_resource_type('%s', '%s')"
              .formatted(kind.type.name(), kind.table()));
    }
    verified = store();
    verified.verify(
        Stream.of(Kind.values())
            .flatMap(
                kind ->
                    Stream.of(
                        kind.creation(Execution.RESERVED).build(),
                        kind.creation(Execution.TRANSACTIONAL).build(),
                        kind.deletion()))
            .map(RecordedProcedure::of)
            .toList(),
        Optional.empty());
  }

  @ParameterizedTest
  @EnumSource
  void aReservedCallRefersToItsResourceUntilItIsDeleted(Kind kind) {
    ClaimRequest request = request(kind.creation(Execution.RESERVED).build());

    assertRefers(kind, request, Things.win(verified, request));
  }

  @ParameterizedTest
  @EnumSource
  void aTransactionalCallRefersToItsResourceUntilItIsDeleted(Kind kind) {
    ClaimRequest request = request(kind.creation(Execution.TRANSACTIONAL).build());

    assertRefers(kind, request, ((ClaimResult.Won) verified.claimInTransaction(request)).claim());
  }

  private void assertRefers(Kind kind, ClaimRequest request, Claim claim) {
    insert(kind);
    ResourceId id = claim.resourceIdType().read(ResourceId.of(kind.written)).orElseThrow();
    assertThat(claim.resourceIdType()).isEqualTo(kind.idType());
    assertThat(id).isEqualTo(kind.id);

    assertThat(claim.complete(answer(id))).isEqualTo(Claim.Settled.DONE);

    assertRecorded(found(request), Optional.of(kind.id), COMPLETED);
    assertRecorded((ClaimResult.Recorded) verified.claim(request), Optional.of(kind.id), COMPLETED);
    assertRecorded(
        (ClaimResult.Recorded) verified.claimInTransaction(request),
        Optional.of(kind.id),
        COMPLETED);
    assertListed(request, claim, Optional.of(kind.id), COMPLETED);
    OwnedResource resource = new OwnedResource(caller, kind.id);
    OwnedResource missing = new OwnedResource(caller, kind.missing);
    assertThat(
            verified
                .operations(List.of(request.procedure()))
                .statuses(request.procedure(), List.of(resource, missing)))
        .isEqualTo(Map.of(resource, COMPLETED, missing, FAILED));

    execute("DELETE FROM " + kind.table());
    assertRecorded(found(request), Optional.empty(), COMPLETED);
    assertListed(request, claim, Optional.empty(), COMPLETED);
  }

  @ParameterizedTest
  @EnumSource
  void theRecordOfADeleteRefersToARowThatStillExists(Kind kind) {
    Procedure procedure = kind.deletion();
    ClaimRequest soft = request(procedure);
    ClaimRequest hard = request(procedure);
    insert(kind);

    assertThat(Things.win(verified, soft).complete(answer(kind.id))).isEqualTo(Claim.Settled.DONE);
    assertThat(found(soft).outcome().resourceId()).contains(kind.id);
    execute("DELETE FROM " + kind.table());
    assertThat(Things.win(verified, hard).complete(answer(kind.id))).isEqualTo(Claim.Settled.DONE);
    assertThat(found(hard).outcome().resourceId()).isEmpty();
    assertThat(found(soft).outcome().resourceId()).isEmpty();
  }

  /** As on a server that starts while its database cannot be reached. */
  @ParameterizedTest
  @EnumSource(names = {"BIGINT", "TEXT"})
  void aStoreThatWasNotCheckedReadsTheTypeWithItsFirstClaim(Kind kind) {
    ClaimRequest request = request(kind.creation(Execution.RESERVED).build());
    insert(kind);

    assertThat(Things.win(store(), request).complete(answer(kind.id)))
        .isEqualTo(Claim.Settled.DONE);

    assertRecorded(found(request), Optional.of(kind.id), COMPLETED);
    execute("DELETE FROM " + kind.table());
  }

  @ParameterizedTest
  @EnumSource(names = {"BIGINT", "TEXT"})
  void aReservedCallWhoseResourceDoesNotExistRefersToNone(Kind kind) {
    ClaimRequest request = request(kind.creation(Execution.RESERVED).build());

    assertThat(Things.win(store(), request).complete(answer(kind.id)))
        .isEqualTo(Claim.Settled.UNREFERRED);

    assertThat(found(request).outcome().resourceId()).isEmpty();
    assertThat(found(request).status()).isEmpty();
  }

  private static PostgresIdempotencyStore store() {
    return PostgresIdempotencyStore.builder(database.app()).build();
  }

  private ClaimRequest request(Procedure procedure) {
    return Things.claimOf(
        new IdempotencyKey(caller, UUID.randomUUID().toString()),
        procedure,
        Fingerprinter.wholeRequest().fingerprint(Thing.getDefaultInstance()));
  }

  private static ClaimResult.Recorded found(ClaimRequest request) {
    return (ClaimResult.Recorded) verified.find(request.key(), request.procedure()).orElseThrow();
  }

  private static void assertRecorded(
      ClaimResult.Recorded recorded, Optional<ResourceId> id, IdempotencyStatus status) {
    assertThat(recorded.outcome().resourceId()).isEqualTo(id);
    assertThat(recorded.status()).contains(status);
  }

  /** With all procedures, whose resources are in columns of different types. */
  private void assertListed(
      ClaimRequest request, Claim claim, Optional<ResourceId> id, IdempotencyStatus status) {
    List<RecordedProcedure> all =
        Stream.concat(
                Stream.of(request.procedure()),
                Stream.of(Kind.values()).map(kind -> RecordedProcedure.of(kind.deletion())))
            .toList();
    assertThat(verified.operations(all).find(caller, List.of(claim.operationId())))
        .singleElement()
        .satisfies(found -> assertRecorded((ClaimResult.Recorded) found.standing(), id, status));
  }

  private static void insert(Kind kind) {
    database.execute(
        "INSERT INTO %s VALUES (CAST(? AS %s), 'done')".formatted(kind.table(), kind.sql),
        kind.written);
  }

  private static void execute(String sql) {
    database.execute("SET LOCAL ROLE things_owner; " + sql);
  }

  private static RecordedOutcome answer(ResourceId id) {
    return new RecordedOutcome.Response(ByteString.copyFromUtf8("an answer"), Optional.of(id));
  }
}
