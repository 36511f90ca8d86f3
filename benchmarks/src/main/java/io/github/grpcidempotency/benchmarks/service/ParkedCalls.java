package io.github.grpcidempotency.benchmarks.service;

import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import io.github.grpcidempotency.benchmarks.v1.Project;
import io.grpc.MethodDescriptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A method without idempotency that keeps its callers waiting until it is told to answer. */
public final class ParkedCalls {
  private static final String SERVICE = "grpcidempotency.benchmarks.v1.Parking";

  /** The method. */
  public static final MethodDescriptor<CreateProjectRequest, Project> METHOD =
      MethodDescriptor.<CreateProjectRequest, Project>newBuilder()
          .setType(MethodDescriptor.MethodType.UNARY)
          .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, "Park"))
          .setRequestMarshaller(ProtoUtils.marshaller(CreateProjectRequest.getDefaultInstance()))
          .setResponseMarshaller(ProtoUtils.marshaller(Project.getDefaultInstance()))
          .build();

  private final Queue<StreamObserver<Project>> waiting = new ConcurrentLinkedQueue<>();

  ServerServiceDefinition service() {
    return ServerServiceDefinition.builder(SERVICE)
        .addMethod(METHOD, ServerCalls.asyncUnaryCall((request, observer) -> waiting.add(observer)))
        .build();
  }

  /** Returns how many calls wait. */
  public int waiting() {
    return waiting.size();
  }

  /** Answers them all. */
  public void release() {
    StreamObserver<Project> next;
    while ((next = waiting.poll()) != null) {
      next.onNext(Project.getDefaultInstance());
      next.onCompleted();
    }
  }
}
