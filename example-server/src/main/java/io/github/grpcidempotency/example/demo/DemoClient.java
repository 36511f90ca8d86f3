package io.github.grpcidempotency.example.demo;

import com.google.protobuf.Message;
import io.github.grpcidempotency.example.organization.v1.CreateProjectRequest;
import io.github.grpcidempotency.example.organization.v1.CreateProjectResponse;
import io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc;
import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptor;
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
import java.util.function.Function;

/**
 * One user's client. Nothing in it is special: a call, and some more headers.
 *
 * @param headers what is sent beside the user
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

  /** Returns the same client, whose calls carry a key. */
  DemoClient keyed(UUID key) {
    return with(IdempotencyMetadata.KEY.name(), key);
  }

  /** Creates a project, and takes whatever comes back for an answer. */
  Answer createProject(String name, UUID key) {
    return keyed(key)
        .call(
            ProjectServiceGrpc.getCreateProjectMethod(),
            CreateProjectRequest.newBuilder().setName(name).build(),
            response -> "project " + response.getProject().getId());
  }

  /** Creates a project to go on with. */
  String newProject(String name, UUID key) {
    return createProject(name, key).as(CreateProjectResponse.class).getProject().getId();
  }

  /**
   * Calls, and takes whatever comes back for an answer.
   *
   * @param told says a response in a few words
   */
  <RequestT extends Message, ResponseT extends Message> Answer call(
      MethodDescriptor<RequestT, ResponseT> method,
      RequestT request,
      Function<ResponseT, String> told) {
    AtomicReference<Metadata> trailers = new AtomicReference<>(new Metadata());
    Channel intercepted = ClientInterceptors.intercept(channel, metadata(), capture(trailers));
    try {
      ResponseT response =
          ClientCalls.blockingUnaryCall(
              intercepted,
              method,
              CallOptions.DEFAULT.withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS),
              request);
      return Answer.of(
          response,
          told.apply(response),
          Optional.ofNullable(trailers.get()).orElseGet(Metadata::new));
    } catch (StatusRuntimeException e) {
      return Answer.of(e);
    }
  }

  private ClientInterceptor metadata() {
    Metadata metadata = new Metadata();
    metadata.put(ascii("authorization"), "Bearer " + user);
    headers.forEach((name, value) -> metadata.put(ascii(name), value));
    return MetadataUtils.newAttachHeadersInterceptor(metadata);
  }

  private static Metadata.Key<String> ascii(String name) {
    return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
  }

  private static ClientInterceptor capture(AtomicReference<Metadata> trailers) {
    return MetadataUtils.newCaptureMetadataInterceptor(new AtomicReference<>(), trailers);
  }
}
