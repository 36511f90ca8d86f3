package io.github.grpcidempotency.longrunning;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.grpcidempotency.grpc.spi.OperationAccess;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.store.SetupException;
import java.lang.reflect.Proxy;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StoreOperationsTest {
  @Test
  void aStoreThatFindsNothingByIdCannotServeOperations() {
    assertThatExceptionOfType(SetupException.class)
        .isThrownBy(
            () ->
                StoreOperations.open(
                    uncalled(OperationAccess.class),
                    Optional.of("east"),
                    uncalled(IdempotencyStore.class)))
        .withMessageMatching("(?s).*shard east: .* cannot find operations by id: .*");
  }

  private static <T> T uncalled(Class<T> type) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, values) -> {
              throw new AssertionError(method);
            }));
  }
}
