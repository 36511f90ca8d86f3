package io.github.grpcidempotency.benchmarks.peers;

import com.google.common.io.Resources;
import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The SQL that libraries ship. */
final class Scripts {
  private Scripts() {}

  /** Runs scripts, and lets the application use the table that they make. */
  static void run(DurableDatabase database, String table, List<String> resources) {
    database
        .superuser()
        .useHandle(
            handle -> {
              for (String resource : resources) {
                handle.createScript(read(resource)).execute();
              }
              handle.execute(
                  "GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO benchmark_app".formatted(table));
            });
  }

  private static String read(String resource) {
    try {
      return Resources.toString(Resources.getResource(resource), StandardCharsets.UTF_8);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
