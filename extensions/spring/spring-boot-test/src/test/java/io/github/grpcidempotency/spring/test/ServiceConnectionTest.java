package io.github.grpcidempotency.spring.test;

import static io.github.grpcidempotency.spring.test.NotesApplication.strings;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.testing.PostgresFixture;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.testcontainers.postgresql.PostgreSQLContainer;

/** All that Spring Boot and Testcontainers do, but for the container itself. */
@SpringBootTest
@IdempotencyDatabase(application = "notes_app", owner = "notes_owner", serviceConnection = true)
class ServiceConnectionTest {
  @TestConfiguration(proxyBeanMethods = false)
  static class Containers {
    @Bean
    @ServiceConnection
    PostgreSQLContainer postgres() {
      return new RunningServer();
    }
  }

  @Autowired JdbcClient jdbc;
  @Autowired PostgresFixture database;
  @Autowired Environment environment;

  @Test
  void theApplicationIsNotTheConnectionsSuperuserButItsRole() {
    assertThat(strings(jdbc, "SELECT current_user")).containsExactly("notes_app");
    assertThat(
            strings(jdbc, "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'public'"))
        .containsExactly("notes_owner");
  }

  @Test
  void theLibrarysMigrationFindsTheDatabaseAndItsOwner() {
    assertThat(environment.getProperty("grpc.idempotency.migration.username"))
        .isEqualTo("notes_owner");
    assertThat(environment.getProperty("grpc.idempotency.migration.password")).isNotEmpty();
    assertThat(environment.getProperty("grpc.idempotency.migration.url"))
        .contains(strings(jdbc, "SELECT current_database()").get(0))
        .doesNotContain("password");
  }

  /** Stands for a container, where there is no Docker: its server runs already. */
  private static final class RunningServer extends PostgreSQLContainer {
    RunningServer() {
      super("postgres:18");
    }

    @Override
    public void start() {}

    @Override
    public void stop() {}

    @Override
    public String getDockerImageName() {
      return "postgres:18";
    }

    @Override
    public String getJdbcUrl() {
      return EmbeddedServer.url();
    }

    @Override
    public String getUsername() {
      return "postgres";
    }
  }
}
