package io.github.grpcidempotency.longrunning;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.spi.OperationCatalog;
import java.lang.reflect.Proxy;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class OperationReaderTest {
  @Test
  void aWaiterGetsAnErrorOfTheStore() {
    AssertionError defect = new AssertionError("on purpose");
    OperationCatalog broken =
        (OperationCatalog)
            Proxy.newProxyInstance(
                OperationCatalog.class.getClassLoader(),
                new Class<?>[] {OperationCatalog.class},
                (proxy, method, values) -> {
                  throw defect;
                });
    CompletableFuture<Throwable> failure = new CompletableFuture<>();
    try (OperationReader reader = new OperationReader(() -> broken, Runnable::run)) {
      reader.read(Caller.of(UUID.randomUUID()), UUID.randomUUID(), found -> {}, failure::complete);

      assertThat(failure.orTimeout(1, TimeUnit.MINUTES).join()).hasRootCause(defect);
    }
  }
}
