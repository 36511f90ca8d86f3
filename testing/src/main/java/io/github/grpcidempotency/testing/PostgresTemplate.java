package io.github.grpcidempotency.testing;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** A database that is migrated once and then copied. Thread-safe. */
final class PostgresTemplate {
  /** A migrated database, and the tables that were empty after the migrations. */
  private record Migrated(String name, List<String> emptyTables) {}

  private static final String TABLES =
      """
      SELECT format('%I.%I', schemaname, tablename)
        FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema')
       ORDER BY 1
      """;

  private final Supplier<PostgresServer> server;
  private final String owner;
  private final String application;
  private final List<PostgresFixture.Migration> migrations;
  private final Supplier<Migrated> migrated = new Once<>(this::migrate);

  PostgresTemplate(
      Supplier<PostgresServer> server,
      String owner,
      String application,
      List<PostgresFixture.Migration> migrations) {
    this.server = server;
    this.owner = owner;
    this.application = application;
    this.migrations = List.copyOf(migrations);
  }

  PostgresServer server() {
    return server.get();
  }

  String owner() {
    return owner;
  }

  String application() {
    return application;
  }

  /** Creates a copy, and returns its name. */
  String copy() {
    return server()
        .createDatabase("OWNER \"%s\" TEMPLATE %s".formatted(owner, migrated.get().name()));
  }

  private Migrated migrate() {
    server().createRole(owner);
    server().createRole(application);
    String name = server().createDatabase("OWNER \"%s\"".formatted(owner));
    for (PostgresFixture.Migration migration : migrations) {
      run(migration, name);
    }
    return new Migrated(name, emptyTablesOf(name));
  }

  private void run(PostgresFixture.Migration migration, String database) {
    try {
      migration.migrate(server().role(database, owner));
    } catch (RuntimeException failure) {
      throw failure;
    } catch (Exception failure) {
      throw new IllegalStateException("a migration failed", failure);
    }
  }

  /**
   * Returns the tables that were empty after the migrations; without migrations, those of a copy.
   */
  List<String> emptyTables(String copy) {
    return migrations.isEmpty() ? emptyTablesOf(copy) : migrated.get().emptyTables();
  }

  private List<String> emptyTablesOf(String database) {
    try (Connection superuser = server().superuser(database).getConnection();
        Statement statement = superuser.createStatement()) {
      List<String> empty = new ArrayList<>();
      for (String table : strings(statement, TABLES)) {
        if (strings(statement, "SELECT 1 FROM %s LIMIT 1".formatted(table)).isEmpty()) {
          empty.add(table);
        }
      }
      return empty;
    } catch (SQLException failure) {
      throw new IllegalStateException("the migrated database cannot be read", failure);
    }
  }

  private static List<String> strings(Statement statement, String query) throws SQLException {
    List<String> rows = new ArrayList<>();
    try (ResultSet result = statement.executeQuery(query)) {
      while (result.next()) {
        rows.add(result.getString(1));
      }
    }
    return rows;
  }
}
