package io.github.grpcidempotency.postgres.jooq;

import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.name;
import static org.jooq.impl.DSL.table;

import com.google.common.io.Resources;
import io.github.grpcidempotency.postgres.IdempotencySchema;
import io.github.grpcidempotency.testing.PostgresFixture;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.UUID;
import javax.sql.DataSource;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.Table;

/** The tables of {@code things.sql}: things under row-level security, and notes without it. */
final class Database {
  static final Table<Record> THINGS = table(name("app", "things"));
  static final Field<UUID> ID = field(name("id"), UUID.class);
  static final Field<String> NAME = field(name("name"), String.class);
  static final Table<Record> NOTES = table(name("app", "notes"));
  static final Field<String> NOTE = field(name("note"), String.class);

  private static final PostgresFixture.Builder MIGRATED =
      PostgresFixture.withRoles("things_owner", "things_app")
          .checkConnections()
          .migrate(IdempotencySchema::migrate)
          .migrate(Database::migrate);

  private Database() {}

  static PostgresFixture create() {
    return MIGRATED.create();
  }

  private static void migrate(DataSource owner) throws IOException, SQLException {
    String script =
        Resources.toString(
            Resources.getResource(Database.class, "things.sql"), StandardCharsets.UTF_8);
    try (Connection connection = owner.getConnection()) {
      connection.createStatement().execute(script);
    }
  }
}
