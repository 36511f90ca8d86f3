package io.github.grpcidempotency.spi;

import io.github.grpcidempotency.proto.Experimental;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares a shard's name with the name that its database contains. If the databases of two shards
 * were swapped, retries would not find their records.
 */
@Experimental
public final class ShardMark {
  private static final Logger logger = LoggerFactory.getLogger(ShardMark.class);

  private ShardMark() {}

  /**
   * Returns the problem of a database that contains another name. Logs a warning if it contains
   * none.
   */
  public static Optional<String> problem(String shard, Optional<String> stored) {
    if (stored.isEmpty()) {
      logger.warn(
          "shard {}: its database does not contain the shard's name, so the server could not detect"
              + " that two databases are swapped: store the name there, as the page \"Callers on"
              + " several databases\" of the documentation describes",
          shard);
    }
    return stored
        .filter(name -> !name.equals(shard))
        .map(
            name ->
                ("its database contains the name of another shard, %s: correct the shard's data"
                        + " source, or the stored name")
                    .formatted(name));
  }
}
