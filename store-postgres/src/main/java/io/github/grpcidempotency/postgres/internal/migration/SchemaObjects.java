package io.github.grpcidempotency.postgres.internal.migration;

import static com.google.common.collect.ImmutableSet.toImmutableSet;

import com.google.common.collect.ImmutableSet;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The tables, functions and policies that the migrations create. */
public final class SchemaObjects {
  private static final Pattern CREATED =
      Pattern.compile(
          "^CREATE (?:UNLOGGED )?(TABLE|FUNCTION|POLICY) (?:\"\\$\\{schema}\"\\.)?(\\w+)",
          Pattern.MULTILINE);

  private SchemaObjects() {}

  /** Returns the problem of a schema in which something is missing or was changed. */
  public static String damage(String schema, String lacking) {
    return "the schema %s lacks %s, which its migrations created. %s"
        .formatted(schema, lacking, remedy(schema));
  }

  /** Returns what mends a schema, whatever is missing in it. */
  public static String remedy(String schema) {
    return ("Create it anew: call ALTER SCHEMA %1$s RENAME TO %1$s_damaged as its owner, run"
            + " idempotency migrate, and grant and add again what your own migration does: the"
            + " section \"A damaged schema\" of the page about upgrades")
        .formatted(schema);
  }

  /**
   * Returns the query for the objects of a schema that are missing, although its migrations were
   * run. Its only row is null if none is missing.
   *
   * @param version the version whose objects, and those of earlier versions, are looked for
   */
  public static String missing(String schema, int version) {
    String objects =
        created(version).stream().map("(%s)"::formatted).collect(Collectors.joining(", "));
    return MigrationSql.read("missing_objects.sql")
        .replace("${objects}", objects)
        .replace("${schema}", schema);
  }

  /** Returns kind and name of each object, in the order of their creation. */
  private static ImmutableSet<String> created(int version) {
    return MigrationSql.FILES.stream()
        .limit(version)
        .flatMap(SchemaObjects::createdBy)
        .collect(toImmutableSet());
  }

  private static Stream<String> createdBy(String file) {
    return CREATED
        .matcher(MigrationSql.read("migration/" + file))
        .results()
        .map(
            found ->
                "'%s', '%s'".formatted(found.group(1).toLowerCase(Locale.ROOT), found.group(2)));
  }
}
