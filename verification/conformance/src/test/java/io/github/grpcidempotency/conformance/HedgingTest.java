package io.github.grpcidempotency.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.common.util.concurrent.ListenableFuture;
import com.google.gson.Gson;
import com.google.gson.reflect.TypeToken;
import io.github.grpcidempotency.conformance.v1.ConformanceGrpc;
import io.github.grpcidempotency.conformance.v1.ReleaseRequest;
import io.github.grpcidempotency.conformance.v1.RunRequest;
import io.github.grpcidempotency.conformance.v1.RunResponse;
import io.github.grpcidempotency.test.RepositoryRoot;
import io.github.grpcidempotency.testing.PostgresFixture;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The hedging policy in the specification. */
class HedgingTest {
  @RegisterExtension static final PostgresFixture DATABASE = ServerUnderTest.database();

  /** The first attempt is held until another attempt was refused as in progress. */
  @Test
  void aHedgedCallIsAnsweredAlthoughAnAttemptIsRefused() throws Exception {
    assertThat(hedged(policy()).getRun()).isOne();
  }

  @Test
  void withoutTheCodesARefusalEndsTheCall() throws IOException {
    String fatal = policy().replace("\"UNAVAILABLE\", \"ABORTED\"", "");

    ExecutionException ended = assertThrows(ExecutionException.class, () -> hedged(fatal));

    assertThat(Status.fromThrowable(ended).getCode()).isEqualTo(Status.Code.ABORTED);
  }

  /** Returns the policy of the specification, for the service of the runner. */
  private static String policy() throws IOException {
    Matcher policy =
        Pattern.compile("(?s)```json\\n([^`]*\"hedgingPolicy\"[^`]*)```")
            .matcher(Files.readString(RepositoryRoot.resolve("docs/specification/README.md")));
    assertThat(policy.find()).isTrue();
    return policy
        .group(1)
        .replace("orders.v1.OrderService", ConformanceGrpc.SERVICE_NAME)
        .replace("CreateOrder", "Run");
  }

  private static RunResponse hedged(String policy) throws Exception {
    Refusals refusals = new Refusals();
    Map<String, ?> config =
        new Gson().fromJson(policy, new TypeToken<Map<String, ?>>() {}.getType());
    try (ServerUnderTest server =
        new ServerUnderTest(DATABASE.newPool(10), ServerUnderTest.Form.RESERVED, refusals)) {
      ManagedChannel channel =
          NettyChannelBuilder.forTarget(server.address())
              .usePlaintext()
              .defaultServiceConfig(config)
              .build();
      try {
        Metadata headers = new Metadata();
        headers.put(
            Metadata.Key.of("idempotency-key", Metadata.ASCII_STRING_MARSHALLER),
            UUID.randomUUID().toString());
        headers.put(
            Metadata.Key.of("conformance-user", Metadata.ASCII_STRING_MARSHALLER), "hedger");
        ListenableFuture<RunResponse> answer =
            ConformanceGrpc.newFutureStub(channel)
                .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers))
                .run(RunRequest.newBuilder().setName(policy).setHold(true).build());
        refusals.first.await();
        Object unused =
            ConformanceGrpc.newBlockingStub(channel)
                .release(ReleaseRequest.newBuilder().setName(policy).build());
        return answer.get();
      } finally {
        channel.shutdownNow();
      }
    }
  }

  /** Sees the first refusal. */
  private static final class Refusals implements ServerInterceptor {
    private final CountDownLatch first = new CountDownLatch(1);

    @Override
    public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
        ServerCall<RequestT, ResponseT> call,
        Metadata headers,
        ServerCallHandler<RequestT, ResponseT> next) {
      return next.startCall(
          new SimpleForwardingServerCall<>(call) {
            @Override
            public void close(Status status, Metadata trailers) {
              super.close(status, trailers);
              if (status.getCode() == Status.Code.ABORTED) {
                first.countDown();
              }
            }
          },
          headers);
    }
  }
}
