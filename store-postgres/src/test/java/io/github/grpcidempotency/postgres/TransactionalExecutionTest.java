package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.procedure.ResourceType;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class TransactionalExecutionTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final UUID USER = UUID.randomUUID();

  private final AtomicReference<Metadata> trailers = new AtomicReference<>(new Metadata());
  private Server server;
  private ManagedChannel channel;
  private IdempotencyInterceptor interceptor;

  @BeforeEach
  void start() throws Exception {
    Procedure procedure =
        Procedure.of(ThingServiceGrpc.getCreateThingMethod())
            .resource(ResourceType.of("thing"), thing -> UUID.fromString(thing.getId()))
            .execution(Execution.TRANSACTIONAL)
            .build();
    interceptor =
        IdempotencyInterceptor.builder(Procedures.of(procedure), () -> Optional.of(Caller.of(USER)))
            .store(PostgresIdempotencyStore.builder(database.app()).build())
            .build();
    String name = UUID.randomUUID().toString();
    server =
        InProcessServerBuilder.forName(name)
            .addService(new Things())
            .intercept(interceptor)
            .build()
            .start();
    channel = InProcessChannelBuilder.forName(name).build();
  }

  @AfterEach
  void stop() {
    channel.shutdownNow();
    server.shutdownNow();
    interceptor.close();
  }

  @Test
  void aRetryGetsTheFirstAnswer() {
    String key = UUID.randomUUID().toString();
    Thing first = create(key);
    assertThat(trailer(IdempotencyMetadata.REPLAYED)).isNull();
    Thing second = create(key);
    assertThat(second).isEqualTo(first);
    assertThat(trailer(IdempotencyMetadata.REPLAYED)).isEqualTo("true");
    assertThat(things()).isEqualTo(1);
  }

  private Thing create(String key) {
    Metadata headers = new Metadata();
    headers.put(IdempotencyMetadata.KEY, key);
    return ThingServiceGrpc.newBlockingStub(channel)
        .withInterceptors(
            MetadataUtils.newAttachHeadersInterceptor(headers),
            MetadataUtils.newCaptureMetadataInterceptor(new AtomicReference<>(), trailers))
        .createThing(CreateThingRequest.newBuilder().setName("a").build());
  }

  private @Nullable String trailer(Metadata.Key<String> name) {
    Metadata received = trailers.get();
    return received == null ? null : received.get(name);
  }

  private static long things() {
    return database
        .superuser()
        .withHandle(
            handle ->
                handle.createQuery("SELECT count(*) FROM app.things").mapTo(Long.class).one());
  }

  private static final class Things extends ThingServiceGrpc.ThingServiceImplBase {
    @Override
    public void createThing(CreateThingRequest request, StreamObserver<Thing> observer) {
      UUID id = UUID.randomUUID();
      ClaimTransaction.handle()
          .execute("INSERT INTO app.things (id, name) VALUES (?, ?)", id, request.getName());
      observer.onNext(Thing.newBuilder().setId(id.toString()).setName(request.getName()).build());
      observer.onCompleted();
    }
  }
}
