package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.example.run.Database;
import io.github.grpcidempotency.example.service.background.Parts;
import java.io.IOException;

/** The process that starts the PostgreSQL of the demo, stops it, and deletes its files. */
final class PostgresProcess {
  private PostgresProcess() {}

  public static void main(String... none) throws IOException {
    try (Parts parts = Parts.closedOnShutdown()) {
      Database database = parts.start(Database::embedded);
      Child.serve(database.url());
    }
  }
}
