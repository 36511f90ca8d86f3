package io.github.grpcidempotency.compatibility;

import com.google.longrunning.GetOperationRequest;
import com.google.longrunning.Operation;
import com.google.longrunning.OperationsGrpc;
import io.github.grpcidempotency.compatibility.v1.BookSeatRequest;
import io.github.grpcidempotency.compatibility.v1.PrintTicketRequest;
import io.github.grpcidempotency.compatibility.v1.Seat;
import io.github.grpcidempotency.compatibility.v1.SeatServiceGrpc;
import io.github.grpcidempotency.compatibility.v1.SeatServiceGrpc.SeatServiceBlockingStub;
import io.github.grpcidempotency.compatibility.v1.Ticket;
import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.github.grpcidempotency.proto.v1.RecoverRequest;
import io.github.grpcidempotency.proto.v1.RecoverResponse;
import io.github.grpcidempotency.proto.v1.RecoveryGrpc;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.stub.MetadataUtils;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

/** A client of the host, over a socket. */
record Client(ManagedChannel channel) implements AutoCloseable {
  static Client of(int port) {
    return new Client(
        Grpc.newChannelBuilder("localhost:" + port, InsecureChannelCredentials.create()).build());
  }

  /** An answer, with the trailers it came with. */
  record Reply<T>(T answer, Metadata trailers) {
    Optional<String> trailer(String name) {
      return Optional.ofNullable(
          trailers.get(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER)));
    }
  }

  Reply<Seat> bookSeat(String key, BookSeatRequest request) {
    return bookSeat(Optional.of(key), request);
  }

  Reply<Seat> bookSeat(Optional<String> key, BookSeatRequest request) {
    return call(key, stub -> stub.bookSeat(request));
  }

  Reply<Ticket> printTicket(String key, PrintTicketRequest request) {
    return call(Optional.of(key), stub -> stub.printTicket(request));
  }

  Operation operation(String name) {
    return OperationsGrpc.newBlockingStub(channel)
        .withDeadlineAfter(20, TimeUnit.SECONDS)
        .getOperation(GetOperationRequest.newBuilder().setName(name).build());
  }

  RecoverResponse recover(String method, String key) {
    return RecoveryGrpc.newBlockingStub(channel)
        .withDeadlineAfter(20, TimeUnit.SECONDS)
        .recover(RecoverRequest.newBuilder().setMethod(method).setKey(key).build());
  }

  private <T> Reply<T> call(Optional<String> key, Function<SeatServiceBlockingStub, T> method) {
    Metadata headers = new Metadata();
    key.ifPresent(value -> headers.put(IdempotencyMetadata.KEY, value));
    AtomicReference<Metadata> trailers = new AtomicReference<>(new Metadata());
    T answer =
        method.apply(
            SeatServiceGrpc.newBlockingStub(channel)
                .withDeadlineAfter(20, TimeUnit.SECONDS)
                .withInterceptors(
                    MetadataUtils.newAttachHeadersInterceptor(headers),
                    MetadataUtils.newCaptureMetadataInterceptor(
                        new AtomicReference<>(), trailers)));
    return new Reply<>(answer, Objects.requireNonNull(trailers.get()));
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }
}
