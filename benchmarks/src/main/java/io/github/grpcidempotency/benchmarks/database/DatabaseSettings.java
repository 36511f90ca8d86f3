package io.github.grpcidempotency.benchmarks.database;

import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What a database is made like.
 *
 * @param resourceTypes how many resource types are registered: each is a column of a record, with a
 *     foreign key and an index
 * @param version the major version that PostgreSQL must have
 * @param parameters of PostgreSQL, beside those that make it durable
 * @param change SQL that the owner runs after the migrations, to see what it changes
 */
public record DatabaseSettings(
    int resourceTypes,
    OptionalInt version,
    Map<String, String> parameters,
    Optional<String> change) {
  /** How many kinds of resources the service has. */
  public static final int MOST_RESOURCE_TYPES = 8;

  /** The service as it is, on whichever PostgreSQL there is. */
  public static final DatabaseSettings DEFAULT =
      new DatabaseSettings(MOST_RESOURCE_TYPES, OptionalInt.empty(), Map.of(), Optional.empty());

  /** Checks the number of resource types. */
  public DatabaseSettings {
    if (resourceTypes < 1 || resourceTypes > MOST_RESOURCE_TYPES) {
      throw new IllegalArgumentException(
          "from 1 to %d resource types, not %d".formatted(MOST_RESOURCE_TYPES, resourceTypes));
    }
  }

  void checkVersion(String server) {
    if (version.isPresent() && !server.matches(version.getAsInt() + "\\b.*")) {
      throw new IllegalArgumentException(
          ("the class path has PostgreSQL %s, not %d: Maven takes another with"
                  + " -Dembedded-postgres.version, such as 17.11.0 or 18.6.0")
              .formatted(server, version.getAsInt()));
    }
  }

  String description() {
    StringBuilder text = new StringBuilder();
    parameters.forEach((name, value) -> text.append(", %s=%s".formatted(name, value)));
    text.append("; resource types: ").append(resourceTypes);
    change.ifPresent(sql -> text.append("; with a change of the schema"));
    return text.toString();
  }
}
