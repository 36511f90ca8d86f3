package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.test.PublicApi;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class PublicApiTest {
  @Test
  void thePublicApiIsTheOneThatIsListed() throws Exception {
    PublicApi.assertListed(IdempotencyAutoConfiguration.class, Path.of("api.txt"));
  }
}
