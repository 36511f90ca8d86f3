package io.github.grpcidempotency.thing;

import static io.github.grpcidempotency.grpc.IdempotencyMetadata.EXPIRES;
import static io.github.grpcidempotency.grpc.IdempotencyMetadata.KEY;
import static io.github.grpcidempotency.grpc.IdempotencyMetadata.OPERATION;
import static io.github.grpcidempotency.grpc.IdempotencyMetadata.REPLAYED;
import static io.github.grpcidempotency.grpc.IdempotencyMetadata.STATUS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.util.Durations;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.DeleteThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.MetadataUtils;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/** A client of the thing service: one user, with one key, in one namespace. Immutable. */
public final class ThingClient implements AutoCloseable {
  private static final UUID NOBODY = new UUID(0, 0);

  private final ManagedChannel channel;
  private final UUID user;
  private final String namespace;
  private final String key;
  private final Map<Metadata.Key<String>, String> headers;
  private final Optional<Duration> time;

  private ThingClient(
      ManagedChannel channel,
      UUID user,
      String namespace,
      String key,
      Map<Metadata.Key<String>, String> headers,
      Optional<Duration> time) {
    this.channel = channel;
    this.user = user;
    this.namespace = namespace;
    this.key = key;
    this.headers = headers;
    this.time = time;
  }

  /** Connects a new user with a new key. */
  public static ThingClient to(int port) {
    return on(
        NettyChannelBuilder.forAddress(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
            .usePlaintext()
            .build());
  }

  /** Returns a new user with a new key on a channel. */
  public static ThingClient on(ManagedChannel channel) {
    return new ThingClient(
        channel, UUID.randomUUID(), "", UUID.randomUUID().toString(), Map.of(), Optional.empty());
  }

  /** Returns the client's user. */
  public UUID user() {
    return user;
  }

  /** Returns the client's key. */
  public String key() {
    return key;
  }

  /** Returns this channel's client of another user, with the same key. */
  public ThingClient as(UUID user) {
    return new ThingClient(channel, user, namespace, key, headers, time);
  }

  /**
   * Returns this channel's client in another namespace, with the same key.
   *
   * @param namespace a tenant, or tenant and project separated by a slash; either may be empty
   */
  public ThingClient in(String namespace) {
    return new ThingClient(channel, user, namespace, key, headers, time);
  }

  /** Returns this channel's client of the same user, with another key. */
  public ThingClient withKey(String key) {
    return new ThingClient(channel, user, namespace, key, headers, time);
  }

  /** Returns this channel's client that also sends a header. */
  public ThingClient with(String header, String value) {
    Map<Metadata.Key<String>, String> more = new HashMap<>(headers);
    more.put(Metadata.Key.of(header, Metadata.ASCII_STRING_MARSHALLER), value);
    return new ThingClient(channel, user, namespace, key, Map.copyOf(more), time);
  }

  /** Returns this channel's client of the same user, without a key. */
  public ThingClient withoutKey() {
    return withKey("");
  }

  /** Returns this channel's client without a user and without a key. */
  public ThingClient withoutUser() {
    return as(NOBODY).withoutKey();
  }

  /** Returns this channel's client with another key. */
  public ThingClient withNewKey() {
    return withKey(UUID.randomUUID().toString());
  }

  /** Returns this channel's client whose calls have this deadline. */
  public ThingClient within(Duration time) {
    return new ThingClient(channel, user, namespace, key, headers, Optional.of(time));
  }

  /** Returns this channel's client with the user, namespace, key and headers of another one. */
  public ThingClient like(ThingClient other) {
    return new ThingClient(channel, other.user, other.namespace, other.key, other.headers, time);
  }

  /** Creates a thing and waits for the answer. */
  public Reply createThing(CreateThingRequest request) {
    return startThing(request).join();
  }

  /** Creates a thing. Cancelling the future cancels the call. */
  public CompletableFuture<Reply> startThing(CreateThingRequest request) {
    return call(ThingServiceGrpc.getCreateThingMethod(), request);
  }

  /** Creates another kind of thing, which needs no database, and waits for the answer. */
  public Reply createOther(CreateThingRequest request) {
    return call(ThingServiceGrpc.getCreateOtherMethod(), request).join();
  }

  /** Deletes a thing and waits for the answer. */
  public Reply deleteThing(UUID id) {
    return startDeletion(id.toString()).join();
  }

  /** Deletes the resource with this name. */
  public CompletableFuture<Reply> startDeletion(String id) {
    return call(
        ThingServiceGrpc.getDeleteThingMethod(), DeleteThingRequest.newBuilder().setId(id).build());
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }

  private <RequestT, ResponseT extends Message> CompletableFuture<Reply> call(
      MethodDescriptor<RequestT, ResponseT> method, RequestT request) {
    Metadata sent = identity();
    headers.forEach(sent::put);
    if (!key.isEmpty()) {
      sent.put(KEY, key);
    }
    ClientCall<RequestT, ResponseT> call = channel.newCall(method, options());
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    CompletableFuture<Reply> unused =
        reply.whenComplete(
            (ended, failure) -> {
              if (reply.isCancelled()) {
                call.cancel("nobody waits any more", failure);
              }
            });
    call.start(new Replying<>(reply), sent);
    call.request(2);
    call.sendMessage(request);
    call.halfClose();
    return reply;
  }

  /** Returns a channel with this client's user and namespace. */
  public Channel channel() {
    return ClientInterceptors.intercept(
        channel, MetadataUtils.newAttachHeadersInterceptor(identity()));
  }

  private Metadata identity() {
    Metadata sent = new Metadata();
    if (!user.equals(NOBODY)) {
      sent.put(ThingServer.USER, user.toString());
    }
    if (!namespace.isEmpty()) {
      sent.put(ThingServer.NAMESPACE, namespace);
    }
    return sent;
  }

  private CallOptions options() {
    return time.map(left -> CallOptions.DEFAULT.withDeadlineAfter(left.toMillis(), MILLISECONDS))
        .orElse(CallOptions.DEFAULT);
  }

  /**
   * The result of a call.
   *
   * @param bytes the response, if there was one
   */
  public record Reply(Status status, Optional<ByteString> bytes, Metadata trailers) {
    /** Returns whether the call was answered. */
    public boolean isOk() {
      return status.isOk();
    }

    /** Returns whether the answer is a replay. */
    public boolean isReplay() {
      return status.isOk() && "true".equals(trailers.get(REPLAYED));
    }

    /** Returns the operation's status from the trailer. */
    public Optional<String> operationStatus() {
      return Optional.ofNullable(trailers.get(STATUS));
    }

    /** Returns the operation's id, if there is one. */
    public Optional<String> operation() {
      return Optional.ofNullable(trailers.get(OPERATION));
    }

    /** Returns the trailer with the time until which retries are answered, if there is one. */
    public Optional<String> expires() {
      return Optional.ofNullable(trailers.get(EXPIRES));
    }

    /** Returns the created thing's id. */
    public UUID thingId() {
      return UUID.fromString(thing().getId());
    }

    /** Returns the created thing. */
    public Thing thing() {
      try {
        return Thing.parseFrom(bytes.orElseThrow(() -> new AssertionError(status)));
      } catch (InvalidProtocolBufferException wrong) {
        throw new IllegalStateException(wrong);
      }
    }

    /** Returns the reason in an error of the library; empty for other errors. */
    public String reason() {
      return details(ErrorInfo.class).stream()
          .filter(info -> info.getDomain().equals("grpc-idempotency"))
          .map(ErrorInfo::getReason)
          .findFirst()
          .orElse("");
    }

    /** Returns the metadata in an error of the library. */
    public Map<String, String> reasonMetadata() {
      return details(ErrorInfo.class).stream()
          .map(ErrorInfo::getMetadataMap)
          .findFirst()
          .orElse(Map.of());
    }

    /** Returns when the client may retry, if the reply contains this. */
    public Optional<Duration> retryAfter() {
      return details(RetryInfo.class).stream()
          .findFirst()
          .map(info -> Duration.ofMillis(Durations.toMillis(info.getRetryDelay())));
    }

    /** Returns an error's description; empty if there is none. */
    public String description() {
      String description = status.getDescription();
      return description == null ? "" : description;
    }

    /** Returns the details of an error that have a type, in their order. */
    public <T extends Message> List<T> details(Class<T> type) {
      com.google.rpc.Status rich = StatusProto.fromStatusAndTrailers(status, trailers);
      List<T> details = new ArrayList<>();
      for (Any detail : rich == null ? List.<Any>of() : rich.getDetailsList()) {
        if (detail.is(type)) {
          try {
            details.add(detail.unpack(type));
          } catch (InvalidProtocolBufferException wrong) {
            throw new IllegalStateException(wrong);
          }
        }
      }
      return details;
    }
  }

  private static final class Replying<ResponseT extends Message>
      extends ClientCall.Listener<ResponseT> {
    private final CompletableFuture<Reply> reply;
    private Optional<ByteString> bytes = Optional.empty();

    Replying(CompletableFuture<Reply> reply) {
      this.reply = reply;
    }

    @Override
    public void onMessage(ResponseT message) {
      bytes = Optional.of(message.toByteString());
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      reply.complete(new Reply(status, bytes, trailers));
    }
  }
}
