package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.longrunning.DeleteOperationRequest;
import com.google.longrunning.GetOperationRequest;
import com.google.longrunning.ListOperationsRequest;
import com.google.longrunning.ListOperationsResponse;
import com.google.longrunning.Operation;
import com.google.longrunning.OperationsGrpc;
import com.google.longrunning.WaitOperationRequest;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.util.Durations;
import com.google.rpc.ErrorInfo;
import io.github.grpcidempotency.proto.v1.OperationMetadata;
import io.github.grpcidempotency.proto.v1.OperationMetadata.State;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.grpc.Channel;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** A user who asks for operations. */
record OperationsClient(Channel channel) {
  static OperationsClient of(ThingClient client) {
    return new OperationsClient(client.channel());
  }

  OperationsGrpc.OperationsBlockingStub stub() {
    return OperationsGrpc.newBlockingStub(channel);
  }

  Operation get(String name) {
    return stub().getOperation(GetOperationRequest.newBuilder().setName(name).build());
  }

  Operation await(String name, Duration limit) {
    return stub().waitOperation(waitFor(name, limit));
  }

  CompletableFuture<Operation> waiting(String name, Duration limit) {
    return CompletableFuture.supplyAsync(() -> await(name, limit));
  }

  static WaitOperationRequest waitFor(String name, Duration limit) {
    return WaitOperationRequest.newBuilder()
        .setName(name)
        .setTimeout(Durations.fromMillis(limit.toMillis()))
        .build();
  }

  ListOperationsResponse list(String filter, int size, String token) {
    return stub()
        .listOperations(
            ListOperationsRequest.newBuilder()
                .setFilter(filter)
                .setPageSize(size)
                .setPageToken(token)
                .build());
  }

  List<Operation> list(String filter) {
    return list(filter, 0, "").getOperationsList();
  }

  void delete(String name) {
    var unused = stub().deleteOperation(DeleteOperationRequest.newBuilder().setName(name).build());
  }

  static OperationMetadata metadata(Operation operation) {
    try {
      return operation.getMetadata().unpack(OperationMetadata.class);
    } catch (InvalidProtocolBufferException wrong) {
      throw new IllegalStateException(wrong);
    }
  }

  static State state(Operation operation) {
    return metadata(operation).getState();
  }

  /** Returns what a call is refused with. */
  static StatusRuntimeException refused(ThrowingCallable call) {
    return catchThrowableOfType(StatusRuntimeException.class, call);
  }

  static String reason(StatusRuntimeException refused) {
    com.google.rpc.Status status = StatusProto.fromThrowable(refused);
    try {
      return status == null || status.getDetailsCount() == 0
          ? ""
          : status.getDetails(0).unpack(ErrorInfo.class).getReason();
    } catch (InvalidProtocolBufferException wrong) {
      throw new IllegalStateException(wrong);
    }
  }

  /** Returns the name of the operation that an answer belongs to. */
  static String nameOf(Reply reply) {
    return reply.operation().orElseThrow();
  }

  /** Writes how far the work behind a thing has come. */
  static void work(TestDatabase database, Reply reply, String status) {
    database.execute(
        "INSERT INTO app.outbox (thing_id, status) VALUES (?, ?)", reply.thingId(), status);
  }
}
