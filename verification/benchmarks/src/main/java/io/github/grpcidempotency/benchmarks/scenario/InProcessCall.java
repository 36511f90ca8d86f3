package io.github.grpcidempotency.benchmarks.scenario;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.benchmarks.service.ProcedureOf;
import io.github.grpcidempotency.benchmarks.service.Variant;
import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import io.github.grpcidempotency.benchmarks.v1.Project;
import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Procedures;
import io.grpc.CallOptions;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerInterceptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.ServerCalls;
import java.io.IOException;
import java.util.Optional;
import java.util.UUID;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * One call over the in-process transport, on the calling thread, to a handler that does nothing.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
public class InProcessCall {
  private static final Variant VARIANT = Variant.RESERVED;
  private static final CreateProjectRequest REQUEST =
      CreateProjectRequest.newBuilder().setName("a project of an ordinary name").build();
  private static final Project PROJECT =
      Project.newBuilder()
          .setId("00000000-0000-4000-8000-000000000002")
          .setName(REQUEST.getName())
          .build();

  private final Caller caller = Caller.of(new UUID(1, 1));
  private final IdempotencyInterceptor interceptor =
      IdempotencyInterceptor.builder(
              Procedures.of(ProcedureOf.variant(VARIANT)), () -> Optional.of(caller))
          .store(new GenerousStore())
          .build();
  private final Server bare = start("bare");
  private final Server intercepted = start("intercepted", interceptor);
  private final ManagedChannel toBare = connect("bare");
  private final ManagedChannel toIntercepted = connect("intercepted");

  /** Checks the results of the calls. */
  @Setup
  public void check() {
    if (!call(toBare).equals(PROJECT) || !call(toIntercepted).equals(PROJECT)) {
      throw new IllegalStateException("the calls do not answer");
    }
  }

  /** A call without an interceptor. */
  @Benchmark
  public Project bare() {
    return call(toBare);
  }

  /** A call that claims, runs, and completes. */
  @Benchmark
  public Project intercepted() {
    return call(toIntercepted);
  }

  /** Stops everything. */
  @TearDown
  public void close() {
    toBare.shutdownNow();
    toIntercepted.shutdownNow();
    bare.shutdownNow();
    intercepted.shutdownNow();
    interceptor.close();
  }

  /**
   * Both kinds of calls have a new key, so that the difference does not include generating and
   * sending the key.
   */
  private static Project call(ManagedChannel channel) {
    Metadata headers = new Metadata();
    headers.put(IdempotencyMetadata.KEY, UuidCreator.getTimeOrderedEpoch().toString());
    return ClientCalls.blockingUnaryCall(
        ClientInterceptors.intercept(channel, MetadataUtils.newAttachHeadersInterceptor(headers)),
        VARIANT.method(),
        CallOptions.DEFAULT,
        REQUEST);
  }

  private static Server start(String name, ServerInterceptor... interceptors) {
    InProcessServerBuilder builder =
        InProcessServerBuilder.forName(name)
            .directExecutor()
            .addService(
                ServerServiceDefinition.builder(Variant.service())
                    .addMethod(
                        VARIANT.method(),
                        ServerCalls.asyncUnaryCall(
                            (request, observer) -> {
                              observer.onNext(PROJECT);
                              observer.onCompleted();
                            }))
                    .build());
    for (ServerInterceptor each : interceptors) {
      builder.intercept(each);
    }
    try {
      return builder.build().start();
    } catch (IOException failure) {
      throw new IllegalStateException(failure);
    }
  }

  private static ManagedChannel connect(String name) {
    return InProcessChannelBuilder.forName(name).directExecutor().build();
  }
}
