package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.google.longrunning.GetOperationRequest;
import com.google.longrunning.ListOperationsRequest;
import com.google.longrunning.Operation;
import com.google.longrunning.OperationsGrpc;
import com.google.longrunning.WaitOperationRequest;
import com.google.protobuf.InvalidProtocolBufferException;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.proto.v1.OperationMetadata;
import io.github.grpcidempotency.proto.v1.RecoverRequest;
import io.github.grpcidempotency.proto.v1.RecoverResponse;
import io.github.grpcidempotency.proto.v1.RecoveryGrpc;
import io.github.grpcidempotency.proto.v1.WorkStatus;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.test.LogLines;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.ClientInterceptor;
import io.grpc.Metadata;
import io.grpc.stub.MetadataUtils;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Responses whose resource id cannot be read. */
@SuppressWarnings("NullAway") // one of the mistakes under test
class ResourceIdsTest extends CallTest {
  private static final ResourceType THING = ResourceType.of("thing");

  static Stream<Arguments> mistakes() {
    return Stream.of(
        of("4711", thing -> thing.resource(THING, made -> null), "the response contains no id"),
        of(
            "4711",
            thing -> thing.resource(THING, ResourceIdsTest::afterAnUpgrade),
            "the function threw java.lang.NoSuchMethodError at "
                + "io.github.grpcidempotency.grpc.ResourceIdsTest"),
        of(
            "4711",
            thing -> thing.resource(THING, made -> ResourceId.of(UUID.fromString(made.getId()))),
            "the function threw java.lang.IllegalArgumentException at "
                + "io.github.grpcidempotency.grpc.ResourceIdsTest"));
  }

  private static ResourceId afterAnUpgrade(Thing thing) {
    throw new NoSuchMethodError("Thing.getId, of " + thing.getName().length() + " characters");
  }

  private static Arguments of(
      String id, UnaryOperator<ProcedureBuilder<Thing>> change, String problem) {
    return arguments(id, change, problem);
  }

  @ParameterizedTest
  @MethodSource("mistakes")
  void anIdThatCannotBeReadIsReportedWithItsMethodAndNoAnswerHasAStatus(
      String id, UnaryOperator<ProcedureBuilder<Thing>> change, String problem)
      throws InvalidProtocolBufferException {
    try (LogLines log = LogLines.listen()) {
      ThingServer server =
          start(
              server()
                  .store(memory)
                  .withServices()
                  .handler(
                      (request, answer) ->
                          ThingHandler.answer(
                              answer, Thing.newBuilder().setId(id).setName("made").build()))
                  .createThing(
                      thing -> change.apply(thing.status(made -> IdempotencyStatus.FAILED))));

      Seen first = keyed(server).end();
      Seen replay = keyed(server).end();

      assertThat(first.first().trailer(IdempotencyMetadata.STATUS)).isEmpty();
      assertThat(replay.trailer(IdempotencyMetadata.REPLAYED)).isPresent();
      assertThat(replay.trailer(IdempotencyMetadata.STATUS)).isEmpty();
      RecoverResponse recovered = recover(server);
      assertThat(recovered.hasResponse()).isTrue();
      assertThat(recovered.getWorkStatus()).isEqualTo(WorkStatus.WORK_STATUS_UNSPECIFIED);
      assertIsDoneWithoutState(server, first.trailer(IdempotencyMetadata.OPERATION).orElseThrow());
      assertThat(log.warnings())
          .singleElement()
          .satisfies(
              line ->
                  assertThat(line)
                      .contains("ThingService/CreateThing", problem, "no idempotency-status"))
          .satisfies(line -> assertThat(line).doesNotContain("4711"));
    }
  }

  private static void assertIsDoneWithoutState(ThingServer server, String name)
      throws InvalidProtocolBufferException {
    OperationsGrpc.OperationsBlockingStub operations =
        OperationsGrpc.newBlockingStub(server.channel())
            .withInterceptors(ofAlice())
            .withDeadlineAfter(20, TimeUnit.SECONDS);
    Operation found =
        operations.getOperation(GetOperationRequest.newBuilder().setName(name).build());

    assertThat(found.getDone()).isTrue();
    assertThat(found.hasResponse()).isTrue();
    assertThat(found.getMetadata().unpack(OperationMetadata.class).getState())
        .isEqualTo(OperationMetadata.State.STATE_UNSPECIFIED);
    assertThat(operations.waitOperation(WaitOperationRequest.newBuilder().setName(name).build()))
        .isEqualTo(found);
    assertThat(
            operations
                .listOperations(ListOperationsRequest.newBuilder().setFilter("done = true").build())
                .getOperationsList())
        .containsExactly(found);
  }

  private static RecoverResponse recover(ThingServer server) {
    return RecoveryGrpc.newBlockingStub(server.channel())
        .withInterceptors(ofAlice())
        .recover(
            RecoverRequest.newBuilder()
                .setMethod(ThingServer.CREATE_THING.getFullMethodName())
                .setKey(KEY)
                .build());
  }

  private static ClientInterceptor ofAlice() {
    Metadata headers = new Metadata();
    headers.put(ThingServer.USER, ALICE.toString());
    return MetadataUtils.newAttachHeadersInterceptor(headers);
  }
}
