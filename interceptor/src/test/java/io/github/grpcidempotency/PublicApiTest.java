package io.github.grpcidempotency;

import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.test.PublicApi;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class PublicApiTest {
  @Test
  void thePublicApiIsListedAndNothingOfItIsInternal() throws Exception {
    PublicApi.assertListed(IdempotencyInterceptor.class, Path.of("api.txt"));
  }
}
