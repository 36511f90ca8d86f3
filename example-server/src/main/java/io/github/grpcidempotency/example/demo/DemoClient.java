package io.github.grpcidempotency.example.demo;

import com.github.f4b6a3.uuid.UuidCreator;
import com.google.protobuf.Message;
import io.github.grpcidempotency.example.organization.v1.CreateProjectRequest;
import io.github.grpcidempotency.example.organization.v1.CreateProjectResponse;
import io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc;
import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A client with one user. It makes calls with some headers.
 *
 * @param headers the headers that are sent in addition to the user
 */
record DemoClient(UUID user, Channel channel, Map<String, String> headers) {
  private static final long DEADLINE_SECONDS = 20;

  DemoClient(UUID user, Channel channel) {
    this(user, channel, Map.of());
  }

  /** Returns the same client with one more header. */
  DemoClient with(String header, Object value) {
    Map<String, String> more = new HashMap<>(headers);
    more.put(header, value.toString());
    return new DemoClient(user, channel, Map.copyOf(more));
  }

  /** Returns a copy whose calls have a key. */
  DemoClient keyed(UUID key) {
    return with(IdempotencyMetadata.KEY.name(), key);
  }

  /** Returns a copy whose calls have a new key. */
  DemoClient keyed() {
    return keyed(newKey());
  }

  /** Returns a copy that loses its answers. */
  DemoClient losingAnswers() {
    return new DemoClient(user, ClientInterceptors.intercept(channel, new LostAnswers()), headers);
  }

  static UUID newKey() {
    return UuidCreator.getTimeOrderedEpoch();
  }

  Answer createProject(String name) {
    return call(
        ProjectServiceGrpc.getCreateProjectMethod(),
        CreateProjectRequest.newBuilder().setName(name).build());
  }

  /** Creates a project for later calls, and returns its id. */
  String newProject(String name) {
    return createProject(name).as(CreateProjectResponse.class).getProject().getId();
  }

  /** Makes a call, and returns its answer, a response or an error. */
  <RequestT extends Message, ResponseT extends Message> Answer call(
      MethodDescriptor<RequestT, ResponseT> method, RequestT request) {
    AtomicReference<Metadata> trailers = new AtomicReference<>();
    Channel intercepted =
        ClientInterceptors.intercept(
            channel,
            MetadataUtils.newAttachHeadersInterceptor(metadata()),
            MetadataUtils.newCaptureMetadataInterceptor(new AtomicReference<>(), trailers));
    CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS);
    try {
      Message response = ClientCalls.blockingUnaryCall(intercepted, method, options, request);
      return Answer.of(response, Optional.ofNullable(trailers.get()).orElseGet(Metadata::new));
    } catch (StatusRuntimeException e) {
      return Answer.of(e);
    }
  }

  Metadata metadata() {
    Metadata metadata = new Metadata();
    metadata.put(ascii("authorization"), "Bearer " + user);
    headers.forEach((name, value) -> metadata.put(ascii(name), value));
    return metadata;
  }

  private static Metadata.Key<String> ascii(String name) {
    return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
  }
}
