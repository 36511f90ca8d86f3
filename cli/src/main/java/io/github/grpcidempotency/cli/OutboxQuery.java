package io.github.grpcidempotency.cli;

import io.github.grpcidempotency.admin.OperationRecord.Resource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jdbi.v3.core.Jdbi;

/**
 * The service's own query for the state of the work behind an answer, as its procedure has it.
 *
 * @param sql with {@code :resource_id}
 */
record OutboxQuery(String sql) {
  static OutboxQuery read(Path file) {
    try {
      return new OutboxQuery(Files.readString(file));
    } catch (IOException unreadable) {
      throw new CommandFailure(
          ExitCode.USAGE, "the outbox query " + file + " cannot be read", unreadable);
    }
  }

  String status(Database database, Optional<Resource> resource) {
    if (resource.isEmpty()) {
      return "none, as there is no resource";
    }
    return Jdbi.create(database.dataSource())
        .withHandle(
            handle ->
                handle
                    .createQuery(sql)
                    .bind("resource_id", resource.get().id())
                    .mapTo(String.class)
                    .findFirst())
        .orElse("no entry");
  }
}
