package io.github.grpcidempotency.longrunning;

import io.github.grpcidempotency.test.PublicApi;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class PublicApiTest {
  @Test
  void thePublicApiIsListedAndNothingOfItIsInternal() throws Exception {
    PublicApi.assertListed(LongRunningOperations.class, Path.of("api.txt"));
  }
}
