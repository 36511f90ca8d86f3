package io.github.grpcidempotency.benchmarks.service;

import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import io.github.grpcidempotency.benchmarks.v1.Project;
import io.grpc.MethodDescriptor;
import io.grpc.protobuf.ProtoUtils;

/** Creates the methods of the service: the same create under many names. */
final class CreateMethod {
  static final String SERVICE = "grpcidempotency.benchmarks.v1.Projects";

  private CreateMethod() {}

  static MethodDescriptor<CreateProjectRequest, Project> named(String name) {
    return MethodDescriptor.<CreateProjectRequest, Project>newBuilder()
        .setType(MethodDescriptor.MethodType.UNARY)
        .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, name))
        .setRequestMarshaller(ProtoUtils.marshaller(CreateProjectRequest.getDefaultInstance()))
        .setResponseMarshaller(ProtoUtils.marshaller(Project.getDefaultInstance()))
        .build();
  }
}
