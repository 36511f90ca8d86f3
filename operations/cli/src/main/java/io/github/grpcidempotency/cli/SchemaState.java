package io.github.grpcidempotency.cli;

import com.google.common.io.Resources;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/**
 * The state of a schema's migrations.
 *
 * @param tableExists whether the table of keys exists
 * @param hasHistory whether Flyway created the schema
 * @param versions the versions that Flyway has applied, in order
 * @param version the version that the schema contains; 0 if it contains none
 * @param isSuperuser whether the current role is a superuser
 */
record SchemaState(
    boolean tableExists,
    boolean hasHistory,
    List<String> versions,
    int version,
    boolean isSuperuser) {
  static SchemaState of(Database database) {
    try (Handle handle = Jdbi.open(database.dataSource())) {
      return handle
          .createQuery(sql("schema_state"))
          .bind("schema", database.schema())
          .map(
              (row, context) -> {
                boolean hasHistory = row.getBoolean("has_history");
                return new SchemaState(
                    row.getBoolean("table_exists"),
                    hasHistory,
                    hasHistory ? versions(handle, database.schema()) : List.of(),
                    row.getBoolean("has_facts") ? version(handle, database.schema()) : 0,
                    row.getBoolean("is_superuser"));
              })
          .one();
    }
  }

  private static List<String> versions(Handle handle, String schema) {
    return handle
        .createQuery(sql("applied").replace("${schema}", schema))
        .mapTo(String.class)
        .list();
  }

  private static int version(Handle handle, String schema) {
    return handle
        .createQuery(
            "SELECT f.value::integer FROM \"%s\".idempotency_facts AS f WHERE f.name = 'version'"
                .formatted(schema))
        .mapTo(Integer.class)
        .findOne()
        .orElse(0);
  }

  boolean isOfAnotherTool() {
    return (tableExists || version > 0) && !hasHistory;
  }

  private static String sql(String name) {
    try {
      return Resources.toString(
          Resources.getResource(SchemaState.class, name + ".sql"), StandardCharsets.UTF_8);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }
}
