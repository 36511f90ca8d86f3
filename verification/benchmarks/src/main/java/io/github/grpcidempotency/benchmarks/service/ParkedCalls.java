package io.github.grpcidempotency.benchmarks.service;

import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import io.github.grpcidempotency.benchmarks.v1.Project;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCallHandler;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A method without idempotency whose callers wait until {@link #release} is called. */
public final class ParkedCalls {
  /** The method. */
  public static final MethodDescriptor<CreateProjectRequest, Project> METHOD =
      CreateMethod.named("Park");

  private final Queue<StreamObserver<Project>> waiting = new ConcurrentLinkedQueue<>();

  ServerCallHandler<CreateProjectRequest, Project> handler() {
    return ServerCalls.asyncUnaryCall((request, observer) -> waiting.add(observer));
  }

  /** Returns how many calls wait. */
  public int waiting() {
    return waiting.size();
  }

  /** Answers all waiting calls. */
  public void release() {
    for (StreamObserver<Project> next = waiting.poll(); next != null; next = waiting.poll()) {
      next.onNext(Project.getDefaultInstance());
      next.onCompleted();
    }
  }
}
