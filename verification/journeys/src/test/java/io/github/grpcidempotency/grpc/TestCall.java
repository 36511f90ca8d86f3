package io.github.grpcidempotency.grpc;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** One call of a client that sees everything, down to the bytes. */
final class TestCall {
  private final Channel channel;
  private final Metadata headers = new Metadata();
  private MethodDescriptor<CreateThingRequest, ?> method;
  private List<CreateThingRequest> requests;
  private CallOptions options = CallOptions.DEFAULT;

  TestCall(Channel channel, MethodDescriptor<CreateThingRequest, ?> method, String name) {
    this.channel = channel;
    this.method = method;
    this.requests = List.of(CreateThingRequest.newBuilder().setName(name).build());
  }

  TestCall to(MethodDescriptor<CreateThingRequest, ?> method) {
    this.method = method;
    return this;
  }

  TestCall as(UUID user) {
    return header(ThingServer.USER, user.toString());
  }

  TestCall as(UUID user, String namespace) {
    return as(user).header(ThingServer.NAMESPACE, namespace);
  }

  TestCall key(String key) {
    return header(IdempotencyMetadata.KEY, key);
  }

  TestCall header(Metadata.Key<String> name, String value) {
    headers.put(name, value);
    return this;
  }

  TestCall headers(Metadata more) {
    headers.merge(more);
    return this;
  }

  TestCall deadlineAfter(Duration time) {
    options = options.withDeadlineAfter(time.toMillis(), TimeUnit.MILLISECONDS);
    return this;
  }

  /** Sends so many requests instead of one. */
  TestCall requests(int number) {
    CreateThingRequest request = requests.get(0);
    requests = new ArrayList<>();
    for (int i = 0; i < number; i++) {
      requests.add(request);
    }
    return this;
  }

  /** Calls, and waits for the end. */
  Seen end() {
    return start().end();
  }

  /** Calls, and does not wait. */
  Started start() {
    Started started = open();
    started.call.halfClose();
    return started;
  }

  /** Sends the request, and then nothing more. */
  Started open() {
    ClientCall<CreateThingRequest, ByteString> call =
        channel.newCall(
            method.toBuilder(method.getRequestMarshaller(), new BytesMarshaller()).build(),
            options);
    Recorder recorder = new Recorder();
    call.start(recorder, headers);
    call.request(10);
    requests.forEach(call::sendMessage);
    return new Started(call, recorder.seen);
  }

  /** A call under way. */
  record Started(ClientCall<CreateThingRequest, ByteString> call, CompletableFuture<Seen> seen) {
    /** Waits for the end. */
    Seen end() {
      try {
        return seen.get(1, TimeUnit.MINUTES);
      } catch (InterruptedException | ExecutionException | TimeoutException failure) {
        throw new AssertionError("the call did not end", failure);
      }
    }

    void cancel() {
      call.cancel("the client has had enough", null);
    }
  }

  private static final class Recorder extends ClientCall.Listener<ByteString> {
    final CompletableFuture<Seen> seen = new CompletableFuture<>();
    private final List<Metadata> responseHeaders = new ArrayList<>();
    private final List<ByteString> messages = new ArrayList<>();

    @Override
    public void onHeaders(Metadata headers) {
      responseHeaders.add(headers);
    }

    @Override
    public void onMessage(ByteString message) {
      messages.add(message);
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      seen.complete(new Seen(status, responseHeaders, messages, trailers));
    }
  }

  private static final class BytesMarshaller implements MethodDescriptor.Marshaller<ByteString> {
    @Override
    public InputStream stream(ByteString bytes) {
      return bytes.newInput();
    }

    @Override
    public ByteString parse(InputStream bytes) {
      try {
        return ByteString.readFrom(bytes);
      } catch (IOException failure) {
        throw new UncheckedIOException(failure);
      }
    }
  }
}
