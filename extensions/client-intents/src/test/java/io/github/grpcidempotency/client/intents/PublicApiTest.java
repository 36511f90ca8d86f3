package io.github.grpcidempotency.client.intents;

import io.github.grpcidempotency.test.PublicApi;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class PublicApiTest {
  @Test
  void thePublicApiIsListedAndNothingOfItIsInternal() throws Exception {
    PublicApi.assertListed(IntentStore.class, Path.of("api.txt"));
  }
}
