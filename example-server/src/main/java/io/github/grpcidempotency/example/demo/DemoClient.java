package io.github.grpcidempotency.example.demo;

import com.github.f4b6a3.uuid.UuidCreator;
import com.google.protobuf.Message;
import io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.CreateClusterRequest;
import io.github.grpcidempotency.example.organization.v1.CreateNamespaceRequest;
import io.github.grpcidempotency.example.organization.v1.CreateProjectRequest;
import io.github.grpcidempotency.example.organization.v1.CreateProjectResponse;
import io.github.grpcidempotency.example.organization.v1.NamespaceServiceGrpc;
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
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A client with one user.
 *
 * @param key the key of each call, if there is one
 */
record DemoClient(UUID user, Channel channel, Optional<UUID> key) {
  private static final long DEADLINE_SECONDS = 20;

  DemoClient(UUID user, Channel channel) {
    this(user, channel, Optional.empty());
  }

  /** Returns a copy whose calls have a key. */
  DemoClient keyed(UUID key) {
    return new DemoClient(user, channel, Optional.of(key));
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

  Answer createNamespace(String projectId, String name) {
    return call(
        NamespaceServiceGrpc.getCreateNamespaceMethod(),
        CreateNamespaceRequest.newBuilder().setProjectId(projectId).setName(name).build());
  }

  Answer createCluster(String projectId, String name) {
    return call(
        ClusterServiceGrpc.getCreateClusterMethod(),
        CreateClusterRequest.newBuilder()
            .setProjectId(projectId)
            .setName(name)
            .setRegion("moon-1")
            .build());
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

  private Metadata metadata() {
    Metadata metadata = new Metadata();
    metadata.put(
        Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + user);
    key.ifPresent(value -> metadata.put(IdempotencyMetadata.KEY, value.toString()));
    return metadata;
  }
}
