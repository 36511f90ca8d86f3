package io.github.grpcidempotency.spring.test;

import io.github.grpcidempotency.testing.PostgresFixture;
import java.util.Optional;
import org.postgresql.ds.PGSimpleDataSource;

/** The database of an application context. The application migrates it. Thread-safe. */
final class TestDatabase {
  /** The credentials of a role. The URL contains neither name nor password. */
  record Login(String url, String username, String password) {}

  private final PostgresFixture fixture;
  private final Roles roles;
  private boolean migrated;

  TestDatabase(PostgresFixture fixture, Roles roles) {
    this.fixture = fixture;
    this.roles = roles;
  }

  PostgresFixture fixture() {
    return fixture;
  }

  Login application() {
    return login(roles.application());
  }

  Login owner() {
    return login(roles.owner());
  }

  /**
   * Called when the application has started. Rows that exist then are not deleted between tests.
   */
  synchronized void started() {
    if (!migrated) {
      fixture.migrated();
      migrated = true;
    }
  }

  private Login login(String role) {
    PGSimpleDataSource parsed = new PGSimpleDataSource();
    parsed.setUrl(fixture.jdbcUrl(role));
    String password = Optional.ofNullable(parsed.getPassword()).orElse("");
    return new Login(parsed.getUrl(), role, password);
  }
}
