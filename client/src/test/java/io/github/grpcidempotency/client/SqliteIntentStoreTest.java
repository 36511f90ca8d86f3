package io.github.grpcidempotency.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.grpcidempotency.client.testing.v1.OrderRequest;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SqliteIntentStoreTest extends IntentStoreContract {
  private static final Set<Route> ROUTES =
      Set.of(IntentStore.route("shop", OrderServiceGrpc.getCreateOrderMethod()));

  private final Path home;
  private final Path file;

  SqliteIntentStoreTest(@TempDir Path home) {
    super(ClientDatabase.sqlite(home.resolve("intents")));
    this.home = home;
    this.file = home.resolve("intents");
  }

  @Override
  ClientDatabase again() {
    return ClientDatabase.sqlite(file);
  }

  @Test
  void aFullDiskRefusesAnIntentAndLosesNone(@TempDir Path directory) throws Exception {
    try (SmallDisk disk = SmallDisk.mount(directory)) {
      IntentStore intents = IntentStore.sqlite(disk.directory().resolve("intents"));
      Intent before = write(intents);
      disk.fill();

      assertThatThrownBy(
              () ->
                  intents.write(
                      "shop",
                      OrderServiceGrpc.getCreateOrderMethod(),
                      OrderRequest.newBuilder().setName("tea ".repeat(50_000)).build()))
          .isInstanceOf(SQLException.class)
          .hasMessageContaining("disk is full");

      disk.free();
      Intent after = write(intents);
      assertThat(intents.take(ROUTES, 10, Duration.ofMinutes(1)))
          .extracting(StoredIntent::intent)
          .containsExactlyInAnyOrder(before, after);
    }
  }

  @Test
  void aSymbolicLinkOpensTheSameIntentsAndStaysALink() throws Exception {
    Path link = Files.createSymbolicLink(home.resolve("link"), file);
    IntentStore linked = IntentStore.sqlite(link);

    Intent intent = write(linked);

    assertThat(Files.isSymbolicLink(link)).isTrue();
    assertThat(IntentStore.sqlite(file).take(ROUTES, 1, Duration.ofMinutes(1)))
        .extracting(StoredIntent::intent)
        .containsExactly(intent);
    assertThat(linked.take(ROUTES, 1, Duration.ofMinutes(1))).isEmpty();
  }

  @Test
  void aCommitWaitsForTheDiskAndForItsDirectory() throws SQLException {
    try (Connection connection = SqliteFile.open(file).open();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("PRAGMA synchronous")) {
      assertThat(row.getInt(1)).as("EXTRA").isEqualTo(3);
    }
  }

  @Test
  void aFileWithTwoNamesIsRefused() throws IOException {
    Path one = Files.createFile(home.resolve("one"));
    Path other = Files.createLink(home.resolve("other"), one);

    for (Path name : List.of(one, other)) {
      assertThatThrownBy(() -> IntentStore.sqlite(name))
          .isInstanceOf(SQLException.class)
          .hasMessageContaining("hard links");
    }
  }

  @Test
  void aMissingFileIsNotCreatedAgain() throws Exception {
    IntentStore intents = IntentStore.sqlite(home.resolve("short"));
    Files.delete(home.resolve("short"));

    assertThatThrownBy(() -> write(intents)).isInstanceOf(SQLException.class);
    assertThat(home.resolve("short")).doesNotExist();
  }

  @Test
  void aFileThatIsNotADatabaseIsRefusedAndNotChanged() throws IOException {
    Path text = Files.writeString(home.resolve("text"), "intent order-7 ".repeat(100));

    assertThatThrownBy(() -> IntentStore.sqlite(text))
        .isInstanceOf(SQLException.class)
        .hasMessageContaining("not a database");
    assertThat(text).hasContent("intent order-7 ".repeat(100));
  }

  @Test
  void aDirectoryThatIsMissingIsNamed() {
    assertThatThrownBy(() -> IntentStore.sqlite(home.resolve("nowhere").resolve("intents")))
        .isInstanceOf(SQLException.class)
        .hasMessageContaining("nowhere");
  }

  @Test
  void onlyItsOwnerMayReadANewFile() throws Exception {
    Path made = home.resolve("made");
    write(IntentStore.sqlite(made));

    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(made)))
        .isEqualTo("rw-------");
  }

  private static Intent write(IntentStore intents) throws SQLException {
    return intents.write(
        "shop",
        OrderServiceGrpc.getCreateOrderMethod(),
        OrderRequest.newBuilder().setName("tea").build());
  }
}
