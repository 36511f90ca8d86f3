package io.github.grpcidempotency.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.testing.PostgresFixture;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;

/** A whole application over a socket, with a database, Flyway and Spring Security. */
class ThingApplicationTest {
  private static final CreateThingRequest THING =
      CreateThingRequest.newBuilder().setName("a thing").build();

  @RegisterExtension
  static final PostgresFixture database =
      PostgresFixture.withRoles("boot_owner", "boot_app").create();

  private static ConfigurableApplicationContext application;
  private static Things things;

  @BeforeAll
  static void start() {
    application = run();
    things = application.getBean(Things.class);
  }

  private static ConfigurableApplicationContext run() {
    String url = database.jdbcUrl("boot_app");
    return new SpringApplicationBuilder(ThingApplication.class)
        .web(WebApplicationType.NONE)
        .properties(
            "spring.main.banner-mode=off",
            "spring.grpc.server.port=0",
            "spring.datasource.url=" + url.substring(0, url.indexOf('?')),
            "spring.datasource.username=boot_app",
            "spring.flyway.user=boot_owner",
            "grpc.idempotency.migration.username=boot_owner")
        .run();
  }

  @AfterAll
  static void stop() {
    application.close();
  }

  @Test
  void aRetryOfAnAnnotatedMethodGetsTheFirstAnswer() {
    try (ThingClient alice = client("alice")) {
      int before = things.runs();
      ThingClient.Reply first = alice.createThing(THING);
      ThingClient.Reply retry = alice.createThing(THING);

      assertThat(first.status()).isEqualTo(Status.OK);
      assertThat(retry.bytes()).isEqualTo(first.bytes());
      assertThat(things.runs()).isEqualTo(before + 1);
    }
  }

  private static ThingClient client(String user) {
    String basic =
        Base64.getEncoder().encodeToString((user + ":secret").getBytes(StandardCharsets.UTF_8));
    return ThingClient.on(
            NettyChannelBuilder.forAddress(
                    "localhost", application.getBean(GrpcServerLifecycle.class).getPort())
                .usePlaintext()
                .build())
        .with("authorization", "Basic " + basic);
  }
}
