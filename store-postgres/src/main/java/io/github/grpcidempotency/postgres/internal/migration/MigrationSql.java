package io.github.grpcidempotency.postgres.internal.migration;

import com.google.common.io.Resources;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;

/** The migrations as one script, for tools other than Flyway, and the script for partitions. */
public final class MigrationSql {
  /**
   * The files by version, starting with 1. Listed here because a jar cannot list the files of a
   * folder.
   */
  public static final List<String> FILES =
      List.of("V1__idempotency_keys.sql", "V2__host.sql", "V3__operators.sql");

  private static final String FOLDER = "/io/github/grpcidempotency/postgres/";

  private MigrationSql() {}

  /** Returns the script for a schema after a version, which is 0 if the schema does not exist. */
  public static String script(String schema, int after) {
    if (after < 0 || after > FILES.size()) {
      throw new IllegalArgumentException(
          "the schema's version must be between 0 and %d, not %d".formatted(FILES.size(), after));
    }
    return FILES.stream()
        .skip(after)
        .map(file -> "-- %s\n\n%s".formatted(file, read("migration/" + file).strip()))
        .collect(
            Collectors.joining(
                "\n\n",
                "BEGIN;\n\n" + (after == 0 ? "CREATE SCHEMA \"${schema}\";\n\n" : ""),
                "\n\nCOMMIT;\n"))
        .replace("${schema}", schema);
  }

  public static String partitions(String schema) {
    return read("partitions.sql").replace("${schema}", schema);
  }

  static String read(String file) {
    try {
      return Resources.toString(
          Resources.getResource(MigrationSql.class, FOLDER + file), StandardCharsets.UTF_8);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }
}
