package io.github.grpcidempotency.example.service.organization;

import io.github.grpcidempotency.example.cloud.v1.BuyMachineRequest;
import io.github.grpcidempotency.example.cloud.v1.Machine;
import io.github.grpcidempotency.example.cloud.v1.MachineServiceGrpc;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A cloud provider's API: something outside the database that is slow, and that no rollback undoes.
 * It keeps idempotency keys, as any API should that is called from a handler that may run twice.
 * Thread-safe.
 */
public final class CloudProvider implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(CloudProvider.class);
  private static final long PATIENCE_SECONDS = 10;
  private static final Metadata.Key<String> KEY =
      Metadata.Key.of("idempotency-key", Metadata.ASCII_STRING_MARSHALLER);

  private final ManagedChannel channel;

  private CloudProvider(ManagedChannel channel) {
    this.channel = channel;
  }

  /** Makes a client, which connects at the first purchase. */
  public static CloudProvider at(String target) {
    return new CloudProvider(
        Grpc.newChannelBuilder(target, InsecureChannelCredentials.create()).build());
  }

  /**
   * Buys a machine, or returns the one that the key has bought before. Blocks until the provider
   * answers, for ten seconds at most, and less if the current call has less time.
   *
   * @param key identifies the purchase; the same on every retry
   * @throws StatusRuntimeException for the client: the machine may have been bought
   */
  Machine buy(String region, String key) {
    Metadata headers = new Metadata();
    headers.put(KEY, key);
    try {
      return MachineServiceGrpc.newBlockingStub(channel)
          .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers))
          .withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS)
          .buyMachine(BuyMachineRequest.newBuilder().setRegion(region).build())
          .getMachine();
    } catch (StatusRuntimeException failure) {
      log.warn("The cloud provider has sold nothing for certain: {}", failure.getStatus());
      throw failure.getStatus().getCode() == Status.Code.ALREADY_EXISTS
          ? otherPurchase()
          : FailureStatus.providerUnavailable();
    }
  }

  /**
   * After an error the client's key is free, so the client may have sent it with another request.
   */
  private static StatusRuntimeException otherPurchase() {
    return Status.INVALID_ARGUMENT
        .withDescription("this idempotency-key has bought a machine in another region")
        .asRuntimeException();
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }
}
