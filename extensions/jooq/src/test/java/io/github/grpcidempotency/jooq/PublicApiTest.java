package io.github.grpcidempotency.jooq;

import io.github.grpcidempotency.test.PublicApi;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class PublicApiTest {
  @Test
  void thePublicApiIsListedAndNothingOfItIsInternal() throws Exception {
    PublicApi.assertListed(ClaimConfiguration.class, Path.of("api.txt"));
  }
}
