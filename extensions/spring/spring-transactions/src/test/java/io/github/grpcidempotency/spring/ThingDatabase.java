package io.github.grpcidempotency.spring;

import io.github.grpcidempotency.postgres.IdempotencySchema;
import io.github.grpcidempotency.testing.PostgresFixture;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/**
 * What all tests of this module share: one migrated database, and looks at what is really there.
 */
final class ThingDatabase {
  static final PostgresFixture.Builder MIGRATED =
      PostgresFixture.withRoles("things_owner", "things_app")
          .checkConnections()
          .migrate(IdempotencySchema::migrate)
          .migrate(ThingDatabase::runHostMigration);

  private ThingDatabase() {}

  private static void runHostMigration(DataSource owner) {
    new ResourceDatabasePopulator(new ClassPathResource("things.sql", ThingDatabase.class))
        .execute(owner);
  }

  /** Returns the ids of a user's things. */
  static List<UUID> thingsOf(PostgresFixture database, UUID user) {
    return new JdbcTemplate(database.superuser())
        .queryForList("SELECT id FROM app.things WHERE user_id = ?", UUID.class, user);
  }

  static List<String> notes(PostgresFixture database) {
    return new JdbcTemplate(database.superuser())
        .queryForList("SELECT text FROM app.notes ORDER BY id", String.class);
  }

  /** Returns how many records a user has. */
  static int records(PostgresFixture database, UUID user) {
    return count(
        database, "SELECT count(*) FROM idempotency.idempotency_keys WHERE user_uuid = ?", user);
  }

  /** Returns how many of a user's things were written by the transaction that wrote a record. */
  static int joined(PostgresFixture database, UUID user) {
    return count(
        database,
        """
        SELECT count(*)
          FROM app.things
          JOIN idempotency.idempotency_keys AS keys
            ON keys.xmin = things.xmin
           AND keys.user_uuid = things.user_id
         WHERE things.user_id = ?
        """,
        user);
  }

  private static int count(PostgresFixture database, String query, UUID user) {
    Integer count =
        new JdbcTemplate(database.superuser()).queryForObject(query, Integer.class, user);
    return count == null ? 0 : count;
  }
}
