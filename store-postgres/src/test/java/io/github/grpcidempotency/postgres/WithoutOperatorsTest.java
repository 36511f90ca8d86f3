package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Statement;
import java.util.List;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Servers need nothing of what operators need. */
class WithoutOperatorsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.unmigrated();

  @Test
  void aServerStartsBeforeTheOperatorsFunctionsAreMigratedAndAfter() throws Exception {
    List<Path> files = MigrationFiles.inOrder();
    Jdbi owner = Jdbi.create(database.owner());
    owner.useHandle(handle -> handle.execute("CREATE SCHEMA idempotency"));
    for (Path file : files.subList(0, 2)) {
      run(owner, file);
    }
    TestDatabase.runHostMigration(database.owner());

    verify();
    assertThat(files.get(2)).hasFileName("V3__operators.sql");
    run(owner, files.get(2));
    verify();
  }

  private static void verify() {
    Things.verify(PostgresIdempotencyStore.builder(database.app()).build(), Things.CREATE_THING);
  }

  private static void run(Jdbi owner, Path file) throws Exception {
    String sql = Files.readString(file).replace("${schema}", "idempotency");
    owner.useHandle(
        handle -> {
          try (Statement statement = handle.getConnection().createStatement()) {
            statement.execute(sql);
          }
        });
  }
}
