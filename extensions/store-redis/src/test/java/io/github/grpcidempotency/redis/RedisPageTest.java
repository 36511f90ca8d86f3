package io.github.grpcidempotency.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.test.RepositoryRoot;
import io.github.grpcidempotency.test.Snippets;
import io.lettuce.core.RedisURI;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The page's Java is compiled. */
class RedisPageTest {
  private static final Path PAGE = RepositoryRoot.resolve("docs/how-to/redis.md");

  @Test
  void theJavaOnThePageIsCutFromHere() throws Exception {
    assertThat(Snippets.of(PAGE, "java")).hasSize(2).allMatch(snippet -> isCut(snippet));
  }

  private static boolean isCut(String snippet) {
    return Snippets.isCutFrom(
        snippet, Path.of("src/test/java/io/github/grpcidempotency/redis/RedisPageTest.java"));
  }

  static IdempotencyStore onOneServer() {
    RedisURI uri = RedisURI.create("rediss://store:secret@redis.internal:6379");
    RedisIdempotencyStore store = RedisIdempotencyStore.builder(uri).build();
    return store;
  }

  static IdempotencyStore behindSentinels() {
    RedisURI uri =
        RedisURI.Builder.sentinel("sentinel-1.internal", 26379, "things")
            .withSentinel("sentinel-2.internal", 26379)
            .withSentinel("sentinel-3.internal", 26379)
            .withAuthentication("store", "secret")
            .build();
    RedisIdempotencyStore store =
        RedisIdempotencyStore.builder(uri)
            .durability(Durability.everyWrite().acknowledgedBy(1))
            .lease(Duration.ofSeconds(30))
            .build();
    return store;
  }
}
