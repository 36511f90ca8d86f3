package io.github.grpcidempotency.spring.example.demo;

import io.github.grpcidempotency.client.IdempotencyClientInterceptor;
import io.github.grpcidempotency.spring.example.ShopApplication;
import io.github.grpcidempotency.spring.example.provider.CardServer;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.time.Duration;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Starts a PostgreSQL, a card company and the shop. Exits with 0 only if every expectation holds.
 */
public final class Demo {
  private Demo() {}

  public static void main(String... args) throws Exception {
    System.exit(play() ? 0 : 1);
  }

  static boolean play() throws Exception {
    // Nothing is logged before the application has configured logging.
    LoggingSystem.get(Demo.class.getClassLoader()).beforeInitialize();
    try (EmbeddedPostgres postgres =
            EmbeddedPostgres.builder().setPGStartupWait(Duration.ofMinutes(1)).start();
        CardServer cards = CardServer.start()) {
      JdbcTemplate server = new JdbcTemplate(postgres.getPostgresDatabase());
      server.execute("CREATE ROLE shop_owner LOGIN");
      server.execute("CREATE ROLE shop_app LOGIN");
      server.execute("CREATE DATABASE shop OWNER shop_owner");
      try (ConfigurableApplicationContext shop =
          SpringApplication.run(
              ShopApplication.class,
              "--spring.datasource.url=jdbc:postgresql://localhost:%d/shop"
                  .formatted(postgres.getPort()),
              "--spring.grpc.server.port=0",
              "--spring.main.banner-mode=off",
              "--logging.level.root=warn",
              "--shop.card-company=" + cards.uri())) {
        int port = shop.getBean(GrpcServerLifecycle.class).getPort();
        JdbcTemplate rows = new JdbcTemplate(postgres.getDatabase("postgres", "shop"));
        return play(port, cards, rows);
      }
    }
  }

  private static boolean play(int port, CardServer cards, JdbcTemplate rows) {
    ManagedChannel channel =
        Grpc.newChannelBuilder("localhost:" + port, InsecureChannelCredentials.create())
            .intercept(IdempotencyClientInterceptor.create())
            .build();
    try {
      Story story = new Story(System.out);
      new Scenes(channel, cards, rows, story).play();
      return story.end();
    } finally {
      channel.shutdownNow();
    }
  }
}
