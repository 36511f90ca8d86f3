package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class IdempotencySchemaTest {
  private final TestDatabase database = TestDatabase.create();
  private final Jdbi owner = Jdbi.create(database.owner());

  @AfterEach
  void close() {
    database.close();
  }

  @Test
  void migratingAgainChangesNothing() {
    List<String> before = database.everythingIn("idempotency");

    IdempotencySchema.migrate(database.owner());

    assertThat(database.everythingIn("idempotency")).isEqualTo(before);
  }

  @Test
  void aSecondSchemaCanExistBesideTheFirst() {
    List<String> first = database.everythingIn("idempotency");

    IdempotencySchema.migrate(database.owner(), "other_one");
    owner.useHandle(
        handle -> {
          handle.execute("SELECT other_one.add_resource_type('thing', 'app.things')");
          handle.execute("SELECT other_one.grant_to('things_app')");
        });

    Things.verify(
        PostgresIdempotencyStore.builder(database.app()).schema("other_one").build(),
        Things.CREATE_THING);
    assertThat(database.everythingIn("idempotency")).isEqualTo(first);
    assertThat(database.everythingIn("other_one"))
        .as("everything but the tests' own constraint")
        .hasSize(first.size() - 1);
  }

  @Test
  void theHostsOwnSchemaIsLeftAlone() {
    assertThat(database.everythingIn("public")).isEmpty();
  }

  @Test
  void aRecordRefersToOneResourceAtMostHoweverManyTypesThereAre() {
    owner.useHandle(
        handle -> {
          handle.execute("CREATE TABLE app.widgets (id uuid PRIMARY KEY)");
          handle.execute("CREATE TABLE app.gadgets (gadget uuid PRIMARY KEY)");
          handle.execute("SELECT idempotency.add_resource_type('widget', 'app.widgets')");
          handle.execute("SELECT idempotency.add_resource_type('gadget', 'app.gadgets', 'gadget')");
        });
    Jdbi superuser = database.superuser();
    superuser.useHandle(
        handle -> {
          handle.execute(
              "INSERT INTO app.things VALUES (gen_random_uuid(), gen_random_uuid(), '')");
          handle.execute("INSERT INTO app.widgets VALUES (gen_random_uuid())");
          handle.execute("INSERT INTO app.gadgets VALUES (gen_random_uuid())");
        });
    new KeyTable(database).add(1, Duration.ofHours(1));
    String things = "thing_id = (SELECT id FROM app.things)";
    String widgets = "widget_id = (SELECT id FROM app.widgets)";
    String gadgets = "gadget_id = (SELECT gadget FROM app.gadgets)";

    for (List<String> two :
        List.of(List.of(things, widgets), List.of(widgets, gadgets), List.of(things, gadgets))) {
      assertThatThrownBy(() -> set(superuser, String.join(", ", two)))
          .hasMessageContaining("idempotency_keys_one_resource");
    }
    set(superuser, gadgets);
  }

  @Test
  void aResourceTypeOfAnotherSpellingIsRefused() {
    assertThatThrownBy(
            () ->
                owner.useHandle(
                    handle ->
                        handle.execute(
                            "SELECT idempotency.add_resource_type('Thing!', 'app.things')")))
        .hasMessageContaining("lower case snake case");
  }

  @Test
  void theApplicationMayNotAlterWhatItUses() {
    Jdbi app = Jdbi.create(database.app());
    for (String forbidden :
        List.of(
            "SELECT idempotency.add_resource_type('other', 'app.things')",
            "SELECT idempotency.grant_to('things_app')",
            "ALTER TABLE idempotency.idempotency_keys DISABLE ROW LEVEL SECURITY",
            "CREATE TABLE idempotency.x ()")) {
      assertThatThrownBy(() -> app.useHandle(handle -> handle.execute(forbidden)))
          .hasMessageContaining("ERROR");
    }
  }

  private static void set(Jdbi superuser, String columns) {
    superuser.useHandle(
        handle -> handle.execute("UPDATE idempotency.idempotency_keys SET " + columns));
  }
}
