package io.github.grpcidempotency.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.CallerResolver;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingHandler;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.stub.StreamObserver;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.grpc.server.autoconfigure.GrpcServerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.grpc.server.GlobalServerInterceptor;

/** Without the starter, as in older lines of Spring Boot. */
class ByHandTest {
  @Test
  void anInterceptorThatIsABeanIsRegistered() {
    String name = UUID.randomUUID().toString();
    Counting service = new Counting();
    new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(GrpcServerAutoConfiguration.class))
        .withClassLoader(Runners.without())
        .withPropertyValues("spring.grpc.server.inprocess.name=" + name)
        .withBean(Counting.class, () -> service)
        .withBean(IdempotencyStore.class, InMemoryIdempotencyStore::new)
        .withBean(CallerResolver.class, () -> () -> Optional.of(Caller.ofSubject("somebody")))
        .withUserConfiguration(Idempotency.class)
        .run(
            context -> {
              try (ThingClient client =
                  ThingClient.on(InProcessChannelBuilder.forName(name).build())) {
                ThingClient.Reply first =
                    client.createThing(CreateThingRequest.getDefaultInstance());
                ThingClient.Reply retry =
                    client.createThing(CreateThingRequest.getDefaultInstance());

                assertThat(retry.bytes()).isPresent().isEqualTo(first.bytes());
                assertThat(service.runs).hasValue(1);
              }
            });
  }

  @Configuration(proxyBeanMethods = false)
  static class Idempotency {
    @Bean
    @GlobalServerInterceptor
    @Order(100)
    IdempotencyInterceptor idempotencyInterceptor(IdempotencyStore store, CallerResolver callers) {
      Procedures procedures =
          Procedures.builder().addAnnotated(ThingServiceGrpc.getServiceDescriptor()).build();
      return IdempotencyInterceptor.builder(procedures, callers).store(store).build();
    }
  }

  private static final class Counting extends ThingServiceGrpc.ThingServiceImplBase {
    private final AtomicInteger runs = new AtomicInteger();

    @Override
    public void createThing(CreateThingRequest request, StreamObserver<Thing> answer) {
      runs.incrementAndGet();
      ThingHandler.answer(request, answer);
    }
  }
}
