package io.github.grpcidempotency.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;
import static org.junit.platform.testkit.engine.EventConditions.finishedWithFailure;
import static org.junit.platform.testkit.engine.EventConditions.test;
import static org.junit.platform.testkit.engine.TestExecutionResultConditions.instanceOf;
import static org.junit.platform.testkit.engine.TestExecutionResultConditions.message;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.testing.StreamRecorder;
import io.grpc.testing.TestMethodDescriptors;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

class GrpcCleanupExtensionTest {
  /** What the inner test has started. */
  private static final List<Example> started = new ArrayList<>();

  private static Duration limit = Duration.ZERO;

  @BeforeEach
  void forget() {
    started.clear();
    limit = Duration.ofMinutes(1);
  }

  @Test
  void aTestWhoseCallsHaveEndedPasses() {
    Events tests = run("ends");

    tests.assertStatistics(statistics -> statistics.succeeded(1).failed(0));
    assertThat(example().server.isTerminated()).isTrue();
    assertThat(example().channel.isTerminated()).isTrue();
    assertThat(Status.fromThrowable(example().answer.getError()).getCode())
        .as("the call ended by itself")
        .isEqualTo(Status.Code.ALREADY_EXISTS);
    assertThat(example().closed).containsExactly("with the server ended: true");
  }

  @Test
  void aTestWhoseCallHangsFailsAndTheCallIsCancelled() throws Exception {
    limit = Duration.ofMillis(200);

    Events tests = run("hangs");

    tests
        .assertThatEvents()
        .haveExactly(
            1,
            test(
                finishedWithFailure(
                    instanceOf(AssertionError.class),
                    message(text -> text.contains("has not ended within PT0.2S")))));
    assertEndedByForce();
    assertThat(example().closed).hasSize(1);
  }

  @Test
  @Timeout(30)
  void aTestThatFailsKeepsItsFailureAndEverythingIsEndedByForceAtOnce() throws Exception {
    Events tests = run("fails");

    tests
        .assertThatEvents()
        .haveExactly(
            1,
            test(
                finishedWithFailure(
                    instanceOf(IllegalStateException.class), message("the test's own"))));
    assertEndedByForce();
    assertThat(example().closed).hasSize(1);
  }

  private static void assertEndedByForce() throws Exception {
    assertThat(example().server.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
    assertThat(example().channel.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
    assertThat(example().answer.awaitCompletion(10, TimeUnit.SECONDS)).isTrue();
    assertThat(Status.fromThrowable(example().answer.getError()).getCode())
        .isEqualTo(Status.Code.UNAVAILABLE);
  }

  private static Example example() {
    assertThat(started).hasSize(1);
    return started.get(0);
  }

  private static Events run(String method) {
    return EngineTestKit.engine("junit-jupiter")
        .configurationParameter("junit.jupiter.conditions.deactivate", "*DisabledCondition")
        .selectors(selectMethod(Example.class, method))
        .execute()
        .testEvents();
  }

  @Disabled("run by the tests above only")
  static class Example {
    @RegisterExtension final GrpcCleanupExtension grpc = new GrpcCleanupExtension(limit);

    @SuppressWarnings("deprecation") // grpc-testing has no other recorder for its users
    final StreamRecorder<Void> answer = StreamRecorder.create();

    final List<String> closed = new ArrayList<>();
    Server server;
    ManagedChannel channel;
    private volatile boolean answers;

    @BeforeEach
    void start() throws IOException {
      started.add(this);
      grpc.registerCloseable(() -> closed.add("with the server ended: " + server.isTerminated()));
      String name = InProcessServerBuilder.generateName();
      server =
          grpc.register(
              InProcessServerBuilder.forName(name)
                  .addService(
                      ServerServiceDefinition.builder("service_foo")
                          .addMethod(TestMethodDescriptors.voidMethod(), this::handle)
                          .build())
                  .build()
                  .start());
      channel = grpc.register(InProcessChannelBuilder.forName(name).build());
    }

    @Test
    void ends() {
      answers = true;
      call();
    }

    @Test
    void hangs() {
      call();
    }

    @Test
    void fails() {
      call();
      throw new IllegalStateException("the test's own");
    }

    /** Ends a call after the test that has made it, or never. */
    private ServerCall.Listener<Void> handle(ServerCall<Void, Void> call, Metadata headers) {
      if (answers) {
        CompletableFuture.delayedExecutor(50, TimeUnit.MILLISECONDS)
            .execute(() -> call.close(Status.ALREADY_EXISTS, new Metadata()));
      }
      return new ServerCall.Listener<>() {};
    }

    private void call() {
      ClientCalls.asyncUnaryCall(
          channel.newCall(TestMethodDescriptors.voidMethod(), CallOptions.DEFAULT), null, answer);
    }
  }
}
