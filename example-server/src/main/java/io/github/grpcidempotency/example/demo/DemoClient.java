package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.example.organization.v1.CreateProjectRequest;
import io.github.grpcidempotency.example.organization.v1.CreateProjectResponse;
import io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc;
import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.grpc.Channel;
import io.grpc.ClientInterceptor;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/** One user's client. Nothing in it is special: a stub, and one more header. */
record DemoClient(UUID user, Channel channel) {
  private static final long DEADLINE_SECONDS = 20;
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  /** Creates a project, and takes whatever comes back for an answer. */
  Answer createProject(String name, UUID key) {
    AtomicReference<Metadata> trailers = new AtomicReference<>(new Metadata());
    try {
      CreateProjectResponse response =
          ProjectServiceGrpc.newBlockingStub(channel)
              .withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS)
              .withInterceptors(headers(key), capture(trailers))
              .createProject(CreateProjectRequest.newBuilder().setName(name).build());
      return Answer.of(
          response.getProject(), Optional.ofNullable(trailers.get()).orElseGet(Metadata::new));
    } catch (StatusRuntimeException e) {
      return Answer.of(e);
    }
  }

  private ClientInterceptor headers(UUID key) {
    Metadata headers = new Metadata();
    headers.put(AUTHORIZATION, "Bearer " + user);
    headers.put(IdempotencyMetadata.KEY, key.toString());
    return MetadataUtils.newAttachHeadersInterceptor(headers);
  }

  private static ClientInterceptor capture(AtomicReference<Metadata> trailers) {
    return MetadataUtils.newCaptureMetadataInterceptor(new AtomicReference<>(), trailers);
  }
}
