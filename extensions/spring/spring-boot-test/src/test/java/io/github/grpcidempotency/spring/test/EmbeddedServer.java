package io.github.grpcidempotency.spring.test;

import io.github.grpcidempotency.testing.PostgresFixture;
import org.postgresql.ds.PGSimpleDataSource;

/** The JVM's embedded server, as somebody sees it who has not started it. */
final class EmbeddedServer {
  private EmbeddedServer() {}

  /** Returns the URL of a database on it. */
  static String url() {
    PostgresFixture any = PostgresFixture.withRoles("notes_owner", "notes_app").create();
    return ((PGSimpleDataSource) any.superuser()).getUrl();
  }
}
