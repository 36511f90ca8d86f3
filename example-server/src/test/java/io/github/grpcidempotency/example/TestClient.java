package io.github.grpcidempotency.example;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.rpc.BadRequest;
import com.google.rpc.BadRequest.FieldViolation;
import com.google.rpc.ErrorInfo;
import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/** Calls a server on this machine, as any user, and keeps the trailers. */
public final class TestClient implements AutoCloseable {
  private static final long DEADLINE_SECONDS = 20;

  private final ManagedChannel channel;

  public TestClient(int port) {
    this.channel =
        Grpc.newChannelBuilderForAddress("localhost", port, InsecureChannelCredentials.create())
            .build();
  }

  public Channel channel() {
    return channel;
  }

  public <RequestT extends Message, ResponseT extends Message> Reply<ResponseT> call(
      Metadata headers, MethodDescriptor<RequestT, ResponseT> method, RequestT request) {
    AtomicReference<Metadata> trailers = new AtomicReference<>(new Metadata());
    Channel intercepted =
        ClientInterceptors.intercept(
            channel,
            MetadataUtils.newAttachHeadersInterceptor(headers),
            MetadataUtils.newCaptureMetadataInterceptor(new AtomicReference<>(), trailers));
    ResponseT response =
        ClientCalls.blockingUnaryCall(
            intercepted,
            method,
            CallOptions.DEFAULT.withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS),
            request);
    return new Reply<>(response, Objects.requireNonNull(trailers.get()));
  }

  /** A response and what came after it. */
  public record Reply<ResponseT>(ResponseT response, Metadata trailers) {
    public boolean isReplayed() {
      return "true".equals(trailers.get(IdempotencyMetadata.REPLAYED));
    }

    public String status() {
      return String.valueOf(trailers.get(IdempotencyMetadata.STATUS));
    }
  }

  /** The code and the library's reason of a refusal. */
  public record Refused(Status.Code code, String reason) {}

  /** Calls, and expects to be refused. */
  public <RequestT extends Message, ResponseT extends Message> Refused refused(
      Metadata headers, MethodDescriptor<RequestT, ResponseT> method, RequestT request) {
    try {
      Reply<ResponseT> reply = call(headers, method, request);
      throw new AssertionError("not refused, but answered: " + reply);
    } catch (StatusRuntimeException e) {
      return new Refused(e.getStatus().getCode(), reason(e));
    }
  }

  private static String reason(StatusRuntimeException refusal) {
    return detail(refusal, ErrorInfo.class).map(ErrorInfo::getReason).orElse("");
  }

  /** Returns the detail of a type that a refusal has, if it has one. */
  public static <DetailT extends Message> Optional<DetailT> detail(
      StatusRuntimeException refusal, Class<DetailT> type) {
    return Objects.requireNonNull(StatusProto.fromThrowable(refusal)).getDetailsList().stream()
        .filter(detail -> detail.is(type))
        .map(detail -> unpack(detail, type))
        .findFirst();
  }

  /** Returns the fields that a refusal finds fault with. */
  public static List<String> violations(StatusRuntimeException refusal) {
    return detail(refusal, BadRequest.class)
        .map(BadRequest::getFieldViolationsList)
        .orElse(List.of())
        .stream()
        .map(FieldViolation::getField)
        .toList();
  }

  private static <DetailT extends Message> DetailT unpack(Any detail, Class<DetailT> type) {
    try {
      return detail.unpack(type);
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalArgumentException(e);
    }
  }

  public static Metadata keyed(Object key, Metadata headers) {
    return with("idempotency-key", key.toString(), headers);
  }

  public static Metadata nobody() {
    return new Metadata();
  }

  public static Metadata user(UUID user) {
    return with("authorization", "Bearer " + user, nobody());
  }

  public static Metadata with(String name, String value, Metadata headers) {
    Metadata more = new Metadata();
    more.merge(headers);
    more.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value);
    return more;
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }
}
