package io.github.grpcidempotency.benchmarks.database;

import java.util.Map;

/**
 * The settings of a database.
 *
 * @param resourceTypes the number of resource types: each is a column of a record, with a foreign
 *     key and an index
 * @param parameters parameters of PostgreSQL, in addition to those that make it durable
 */
public record DatabaseSettings(int resourceTypes, Map<String, String> parameters) {
  /** How many kinds of resources the service has. */
  public static final int MOST_RESOURCE_TYPES = 8;

  /** The default settings. */
  public static final DatabaseSettings DEFAULT =
      new DatabaseSettings(MOST_RESOURCE_TYPES, Map.of());

  /** Checks the number of resource types. */
  public DatabaseSettings {
    if (resourceTypes < 1 || resourceTypes > MOST_RESOURCE_TYPES) {
      throw new IllegalArgumentException(
          "from 1 to %d resource types, not %d".formatted(MOST_RESOURCE_TYPES, resourceTypes));
    }
  }
}
