package io.github.grpcidempotency.cli;

import static io.github.grpcidempotency.cli.OperationIds.ABSENT;
import static io.github.grpcidempotency.cli.OperationIds.COMPLETED;
import static io.github.grpcidempotency.cli.OperationIds.COMPLETED_KEY;
import static io.github.grpcidempotency.cli.OperationIds.EXPIRED;
import static io.github.grpcidempotency.cli.OperationIds.FAILED;
import static io.github.grpcidempotency.cli.OperationIds.FAILED_KEY;
import static io.github.grpcidempotency.cli.OperationIds.RUNNING;
import static io.github.grpcidempotency.cli.OperationIds.STUCK;
import static io.github.grpcidempotency.cli.OperationIds.STUCK_KEY;
import static io.github.grpcidempotency.cli.OperationIds.UNKNOWN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.github.grpcidempotency.cli.Shell.Result;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.testing.PostgresFixture;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.PGConnection;

/**
 * What an operator sees and does. {@link PageTest} runs the ordinary uses, which the page shows.
 */
class CommandsTest {
  @RegisterExtension static final PostgresFixture database = Orders.create();

  private final Shell shell = Shell.with(Orders.operator(database));

  @BeforeEach
  void insertOperations() throws Exception {
    Orders.insertOperations(database);
  }

  @Test
  void aKeyIsFoundInAllTenantsOrInOne() {
    assertThat(shell.run("show", COMPLETED_KEY).expect(ExitCode.OK).out())
        .contains(COMPLETED, "key           " + COMPLETED_KEY);
    assertThat(
            shell
                .run("show", STUCK_KEY.toUpperCase(Locale.ROOT), "--project", "apollo")
                .expect(ExitCode.OK)
                .out())
        .contains(STUCK);
    assertThat(shell.run("show", FAILED_KEY, "--tenant", "acme").expect(ExitCode.OK).out())
        .contains(FAILED);
    assertThat(shell.run("show", STUCK_KEY).expect(ExitCode.OK).out())
        .contains(STUCK, "tenant        acme", "project       apollo");
    assertThat(shell.run("show", STUCK_KEY, "--tenant", "umbrella").expect(ExitCode.NEGATIVE).err())
        .contains("nor as a key in the tenant 'umbrella'");
    shell
        .run("show", COMPLETED_KEY, "--of-user", "00000000-0000-4000-8000-00000000000a")
        .expect(ExitCode.NEGATIVE);
  }

  @Test
  void aKeyWhoseSourceHasAPrefixIsFoundAsTheClientSendsIt() throws Exception {
    String id = "019303CD-2F00-7000-8000-0000000000AB";
    Orders.run(
        database.superuser(),
        """
        INSERT INTO idempotency.idempotency_keys
          (id, idempotency_key, user_uuid, procedure, request_hash, hash_version, response_bytes,
           completed, expires)
        SELECT gen_random_uuid(), key, gen_random_uuid(), 'p', '\\x00', 1, '\\x00', now(), now() + interval '1 day'
          FROM unnest(ARRAY['id:019303cd-2f00-7000-8000-0000000000ab', 'ci:order-of-ci']) AS key
        """);

    assertThat(shell.run("show", id).expect(ExitCode.OK).out())
        .contains("id:019303cd-2f00-7000-8000-0000000000ab");
    assertThat(shell.run("show", "order-of-ci").expect(ExitCode.OK).out())
        .contains("ci:order-of-ci");
    assertThat(shell.run("show", "order-of-nobody").expect(ExitCode.NEGATIVE).err())
        .contains("is found without the prefix only if a recent record has it");
  }

  @Test
  void aRunningTransactionIsShownWithItsProcess() throws Exception {
    String user = "00000000-0000-4000-8000-00000000000b";
    try (Connection running = database.superuser().getConnection();
        Statement statement = running.createStatement()) {
      running.setAutoCommit(false);
      statement.execute(
          "SELECT pg_advisory_xact_lock(idempotency.lock_of('order-9', '%s', 'acme', ''))"
              .formatted(user));
      String process = Integer.toString(running.unwrap(PGConnection.class).getBackendPID());
      String[] show = {"show", "order-9", "--of-user", user, "--tenant", "acme"};

      assertThat(shell.run(show).expect(ExitCode.OK).out())
          .contains("A transaction with this key is running: process " + process);
      assertThat(
              shell
                  .run(
                      Stream.concat(Stream.of(show), Stream.of("--output", "json"))
                          .toArray(String[]::new))
                  .expect(ExitCode.OK)
                  .json()
                  .get(0)
                  .get("process")
                  .getAsString())
          .isEqualTo(process);
      shell.run("show", "order-9", "--of-user", user).expect(ExitCode.OK);
      shell.run("show", "order-9").expect(ExitCode.NEGATIVE);
    }
  }

  @Test
  void aKeyCanBeReadFromTheStandardInput() {
    assertThat(shell.reading(COMPLETED_KEY + "\n").run("show", "-").expect(ExitCode.OK).out())
        .contains(COMPLETED);
  }

  @Test
  void aKeyThatBeginsWithAnAtSignIsAKeyAndNotAFile(@TempDir Path directory) throws Exception {
    Path file = Files.writeString(directory.resolve("key"), COMPLETED_KEY);

    shell.run("show", "@" + file).expect(ExitCode.NEGATIVE);
  }

  @Test
  void aKeyIsNotShownByDefault() {
    assertThat(shell.run("show", STUCK).out()).doesNotContain(STUCK_KEY);
    assertThat(shell.run("show", STUCK, "--output", "json").out()).doesNotContain(STUCK_KEY);
    assertThat(shell.run("list").out()).doesNotContain(STUCK_KEY, COMPLETED_KEY);
    assertThat(shell.run("list", "--output", "json").out()).doesNotContain("\"key\"");

    assertThat(shell.run("show", STUCK, "--keys").out()).contains(STUCK_KEY);
    assertThat(shell.run("list", "--keys").out()).contains(STUCK_KEY, COMPLETED_KEY);
  }

  @Test
  void contentsNeedARightAndAreAudited() {
    String[] show = {"show", COMPLETED, "--contents", "--reason", "ticket 4712"};

    assertThat(shell.run(show).expect(ExitCode.NO_RIGHT).err())
        .contains("shop_operator", "grant_contents_to");

    Result shown = auditor().run(show).expect(ExitCode.OK);
    assertThat(shown.out())
        .contains("a response of 7 bytes, in hex", "0a056f72646572")
        .contains(
            "read_contents (done) by ada@console-1 as shop_auditor from 127.0.0.1: ticket 4712");
  }

  @Test
  void recordedErrorsAreDecodedAndCiphertextsAreRecognized() {
    assertThat(
            auditor().run("show", FAILED, "--contents", "--reason", "r").expect(ExitCode.OK).out())
        .contains("an error, NOT_FOUND", "no such article");
    assertThat(
            auditor().run("show", EXPIRED, "--contents", "--reason", "r").expect(ExitCode.OK).out())
        .contains("11 encrypted bytes")
        .doesNotContain("33441122");
    assertThat(
            auditor().run("show", STUCK, "--contents", "--reason", "r").expect(ExitCode.OK).out())
        .contains("contents      none");
  }

  @Test
  void listsAreByState() {
    assertThat(ids("list", "--stuck")).containsExactly(STUCK);
    assertThat(ids("list", "--running")).containsExactly(RUNNING);
    assertThat(ids("list", "--unknown")).containsExactly(UNKNOWN);
    assertThat(ids("list", "--completed")).containsExactly(COMPLETED);
    assertThat(ids("list", "--failed")).containsExactly(FAILED);
    assertThat(ids("list", "--expired")).containsExactly(EXPIRED);
    assertThat(ids("list", "--stuck", "--unknown")).containsExactly(STUCK, UNKNOWN);
    assertThat(ids("list")).containsExactly(RUNNING, STUCK, UNKNOWN, COMPLETED, FAILED, EXPIRED);
  }

  @Test
  void listsAreByEverythingElseToo() {
    assertThat(ids("list", "--procedure", "orders.v1.OrderService/CancelOrder"))
        .containsExactly(RUNNING);
    assertThat(ids("list", "--tenant", "acme")).containsExactly(STUCK, FAILED);
    assertThat(ids("list", "--tenant", "acme", "--project", "apollo")).containsExactly(STUCK);
    assertThat(ids("list", "--of-user", "00000000-0000-4000-8000-00000000000a"))
        .containsExactly(STUCK, FAILED);
    assertThat(ids("list", "--older-than", "4h")).containsExactly(FAILED, EXPIRED);
  }

  @Test
  void listsAreReadPageByPage() {
    Result first = shell.run("list", "--limit", "4").expect(ExitCode.OK);
    String after = first.err().strip().replaceFirst(".*--after ", "");

    assertThat(first.out().lines()).hasSize(5);
    assertThat(ids("list", "--limit", "4", "--after", after)).containsExactly(FAILED, EXPIRED);
    assertThat(shell.run("list", "--limit", "4", "--after", after).err()).isEmpty();
    shell.run("list", "--after", "there").expect(ExitCode.USAGE);
  }

  @Test
  void showPrintsWhatHappenedToTheKeyAfterAFreeAndANewRun() throws Exception {
    shell.run("free", STUCK, "--reason", "no order was made").expect(ExitCode.OK);
    assertThat(shell.run("show", STUCK_KEY).expect(ExitCode.NEGATIVE).err())
        .contains(
            "neither as an operation nor as a key",
            "free (done) by ada@console-1 as shop_operator",
            "operation "
                + STUCK
                + ": orders.v1.OrderService/CreateOrder in tenant acme in project apollo"
                + " of 00000000-0000-4000-8000-00000000000a, attempt 1 on orders-7d9f:4711",
            "without a recorded outcome");
    Orders.run(
        database.superuser(),
        """
        INSERT INTO idempotency.idempotency_keys
          (id, tenant, project, idempotency_key, user_uuid, procedure, request_hash, hash_version, attempt,
           lease_expires, completed, expires, server, former_servers, taken_over)
        VALUES
          ('019303cd-5f00-7000-8000-000000000001', 'acme', 'apollo', '%s',
           '00000000-0000-4000-8000-00000000000a', 'orders.v1.OrderService/CreateOrder', '\\x00', 1,
           2, now(), now(), now() + interval '1 day', 'orders-8c2a:4711',
           ARRAY['orders-9f00:4711'], ARRAY[now()])
        """
            .formatted(STUCK_KEY));

    assertThat(shell.run("show", STUCK_KEY).expect(ExitCode.OK).out())
        .contains(
            "019303cd-5f00-7000-8000-000000000001",
            "attempt 1     on orders-9f00:4711, taken over at ",
            "free (done) by ada@console-1 as shop_operator",
            "operation "
                + STUCK
                + ": orders.v1.OrderService/CreateOrder in tenant acme in project apollo"
                + " of 00000000-0000-4000-8000-00000000000a, attempt 1 on orders-7d9f:4711");
    JsonObject json =
        shell.run("show", STUCK_KEY, "--output", "json").expect(ExitCode.OK).json().get(0);
    assertThat(json.get("takeovers").getAsJsonArray()).hasSize(1);
    assertThat(json.get("audit").getAsJsonArray()).hasSize(1);
    assertThat(ids("list", "--tenant", "acme", "--server", "orders-8c2a:4711"))
        .containsExactly("019303cd-5f00-7000-8000-000000000001");
    assertThat(shell.run("audit", "--key", STUCK_KEY).expect(ExitCode.OK).out())
        .contains("no order was made");
    assertThat(shell.run("audit", "--key", COMPLETED_KEY).err()).contains("no operator");
    assertThat(shell.run("audit", "--by", "ada@console-1", "--act", "free").out())
        .contains("no order was made");
    assertThat(shell.run("audit", "--until", "2020-01-01T00:00:00Z").err()).contains("no operator");
    assertThat(shell.run("audit", "--act", "freed").expect(ExitCode.USAGE).err())
        .contains("an action is erase, forget, free, read_contents or sweep, not freed");
  }

  @Test
  void theHistoryOfAKeyIsThatOfOneUser() throws Exception {
    String other = "00000000-0000-4000-8000-0000000000ff";
    shell.run("free", STUCK, "--reason", "no order was made").expect(ExitCode.OK);
    Orders.run(
        database.superuser(),
        """
        INSERT INTO idempotency.idempotency_audit (actor, act, user_id, tenant, project, key_hash, result, reason)
        SELECT 'eve', 'free', '%s', tenant, project, key_hash, 'not_found', 'of another user'
          FROM idempotency.idempotency_audit, generate_series(1, 30);
        INSERT INTO idempotency.idempotency_keys
          (id, tenant, project, idempotency_key, user_uuid, procedure, request_hash, hash_version, completed,
           expires)
        VALUES
          ('019303cd-5f00-7000-8000-000000000002', 'acme', 'apollo', '%s',
           '00000000-0000-4000-8000-00000000000a', 'orders.v1.OrderService/CreateOrder', '\\x00', 1,
           now(), now() + interval '1 day')
        """
            .formatted(other, STUCK_KEY));

    String user = "00000000-0000-4000-8000-00000000000a";
    assertThat(shell.run("show", STUCK_KEY, "--of-user", user).expect(ExitCode.OK).out())
        .contains("no order was made")
        .doesNotContain("of another user");
    assertThat(shell.run("show", STUCK_KEY).expect(ExitCode.OK).out())
        .containsSubsequence(
            "no order was made", "others        operations of this key", "of another user", other);
    assertThat(shell.run("show", STUCK_KEY, "--of-user", other).expect(ExitCode.NEGATIVE).err())
        .contains("nor as a key of this user", "of another user")
        .doesNotContain("no order was made");
  }

  @Test
  void aUserWhoseIdIsNoUuidIsGivenBySubject() throws Exception {
    String user = Caller.ofSubject("auth0|65a1f0").userId().toString();
    Orders.run(
        database.superuser(),
        "UPDATE idempotency.idempotency_keys SET user_uuid = '%s' WHERE id = '%s'"
            .formatted(user, COMPLETED));

    assertThat(ids("list", "--subject", "auth0|65a1f0")).containsExactly(COMPLETED);
    assertThat(
            shell.run("show", COMPLETED_KEY, "--subject", "auth0|65a1f0").expect(ExitCode.OK).out())
        .contains(user);
    shell.run("show", COMPLETED_KEY, "--subject", "auth0|other").expect(ExitCode.NEGATIVE);
    assertThat(shell.run("list", "--of-user", "auth0|65a1f0").expect(ExitCode.USAGE).err())
        .contains("'auth0|65a1f0' is not a UUID", "--subject")
        .doesNotContain("java");
    shell.run("list", "--of-user", user, "--subject", "x").expect(ExitCode.USAGE);
  }

  @Test
  void anEmptyListOfStuckOperationsIsGoodNewsAndTransactionalCallsAreMentioned() {
    shell.run("free", STUCK, "--reason", "r").expect(ExitCode.OK);

    assertThat(shell.run("list", "--stuck").expect(ExitCode.OK).err())
        .contains("no operation is stuck: nothing needs to be done");
    assertThat(shell.run("list", "--stuck", "--older-than", "2d").expect(ExitCode.OK).err())
        .contains("no operation is stuck among those that match");
    assertThat(shell.run("list", "--running").expect(ExitCode.OK).err())
        .contains("transactional calls are not listed", "connections that hold a key's lock: 0");
    assertThat(shell.run("stats").out()).contains("key locks     0, held by connections");
  }

  @Test
  void freeDeletesAllStuckReservationsOfAServer() {
    String[] free = {"free", "--stuck", "--server", "orders-7d9f:4711", "--reason", "it is gone"};

    assertThat(shell.run("free", "--stuck", "--server", "orders-7d9f:4711", "--dry-run").out())
        .contains(STUCK + " would be freed");
    assertThat(shell.run(free).expect(ExitCode.OK).out()).contains(STUCK + " was freed");
    assertThat(shell.run(free).expect(ExitCode.OK).err()).contains("nothing needs to be done");
    shell.run("free", "--stuck", "--reason", "r").expect(ExitCode.USAGE);
    shell.run("free", STUCK, "--stuck", "--server", "x", "--reason", "r").expect(ExitCode.USAGE);
    shell.run("free", "--reason", "r").expect(ExitCode.USAGE);
  }

  @Test
  void eraseDeletesTheRecordsOfATenantOrAUser() {
    assertThat(shell.run("erase", "--tenant", "acme", "--dry-run").expect(ExitCode.OK).out())
        .contains("1 record and 1 reservation without an owner would be deleted")
        .contains("would run its handler again", "Nothing was changed");
    shell.run("erase", "--tenant", "acme", "--reason", "r").expect(ExitCode.REFUSED);
    shell.typing("no").run("erase", "--tenant", "acme", "--reason", "r").expect(ExitCode.REFUSED);
    assertThat(
            shell
                .typing("erase")
                .run("erase", "--tenant", "acme", "--reason", "contract ended")
                .expect(ExitCode.OK)
                .out())
        .contains("were deleted. A retry of such a call runs its handler again.");
    assertThat(ids("list", "--tenant", "acme")).isEmpty();
    assertThat(shell.run("audit", "--tenant", "acme").out()).contains("erase", "contract ended");

    String user = "00000000-0000-4000-8000-00000000000b";
    assertThat(
            shell
                .run("erase", "--of-user", user, "--yes", "--reason", "r")
                .expect(ExitCode.REFUSED)
                .err())
        .contains("1 operation is running, so nothing is deleted without --wait");
    assertThat(
            shell
                .typing("erase")
                .run("erase", "--of-user", user, "--reason", "r")
                .expect(ExitCode.REFUSED)
                .err())
        .as("it does not ask first")
        .contains("1 operation is running, so nothing is deleted without --wait")
        .doesNotContain("Type erase");
    assertThat(ids("list", "--of-user", user)).hasSize(4);
    assertThat(
            shell
                .run("erase", "--of-user", user, "--yes", "--wait", "1s", "--reason", "r")
                .expect(ExitCode.REFUSED)
                .err())
        .contains("1 operation is running, and not deleted");
    assertThat(ids("list", "--of-user", user)).containsExactly(RUNNING);
    shell.run("erase", "--reason", "r").expect(ExitCode.USAGE);
    shell.run("erase", "--tenant", "a", "--subject", "b", "--reason", "r").expect(ExitCode.USAGE);
  }

  @Test
  void anErasureThatFindsNothingDoesNotLookLikeADoneOne() {
    for (String name : List.of("acme/", "acm", "ACME")) {
      for (String how : List.of("--yes", "--dry-run")) {
        assertThat(
                shell
                    .run("erase", "--tenant", name, how, "--reason", "r")
                    .expect(ExitCode.NEGATIVE)
                    .err())
            .contains("nothing was found: check the name");
      }
    }
    shell.run("erase", "--tenant", "acm", "--reason", "r").expect(ExitCode.NEGATIVE);
    for (String name : List.of("", " acme", "acme ")) {
      shell.run("erase", "--tenant", name, "--yes", "--reason", "r").expect(ExitCode.USAGE);
    }
    shell.run("erase", "--project", "apollo", "--yes", "--reason", "r").expect(ExitCode.USAGE);
    shell.run("list", "--tenant", " acme").expect(ExitCode.USAGE);
  }

  @Test
  void freeRefusesWhileTheLeaseLasts() {
    assertThat(shell.run("free", RUNNING, "--reason", "r").expect(ExitCode.REFUSED).err())
        .contains("its lease has not ended");
    assertThat(shell.run("free", RUNNING, "--dry-run").expect(ExitCode.REFUSED).err())
        .contains("its lease has not ended");

    shell.typing("r", RUNNING).run("free", RUNNING, "--even-if-live").expect(ExitCode.OK);

    assertThat(shell.run("audit", RUNNING).out()).contains("done, forced");
  }

  @Test
  void freeAndForgetAreNotMixedUp() {
    assertThat(shell.run("free", COMPLETED, "--reason", "r").expect(ExitCode.REFUSED).err())
        .contains("forget the operation");
    assertThat(shell.run("forget", STUCK, "--reason", "r").expect(ExitCode.REFUSED).err())
        .contains("free the operation");
    shell.run("free", ABSENT, "--reason", "r").expect(ExitCode.NEGATIVE);
    shell.run("forget", ABSENT, "--reason", "r").expect(ExitCode.NEGATIVE);
  }

  @Test
  void forgetDeletesARecord() {
    assertThat(shell.run("forget", FAILED, "--dry-run").expect(ExitCode.OK).out())
        .contains("would be forgotten");
    Result forgotten =
        shell
            .run("forget", FAILED, "--reason", "the error was ours", "--output", "json")
            .expect(ExitCode.OK);

    assertThat(forgotten.out())
        .isEqualToIgnoringNewLines("{\"operation\":\"%s\",\"result\":\"done\"}".formatted(FAILED));
    assertThat(ids("list", "--failed")).isEmpty();
  }

  @Test
  void statsShowNoAgeIfNothingIsInFlight() throws Exception {
    Orders.run(
        database.superuser(), "DELETE FROM idempotency.idempotency_keys WHERE completed IS NULL");

    assertThat(shell.run("stats").expect(ExitCode.OK).out())
        .contains("in flight     0", "oldest        none in flight");
  }

  @Test
  void workIsCountedByItsStatusInTheOutboxOfEachUser() throws Exception {
    Orders.run(
        database.superuser(),
        """
        INSERT INTO app.orders SELECT md5(n::text)::uuid FROM generate_series(1, 30) AS n;
        INSERT INTO idempotency.idempotency_keys
          (id, idempotency_key, user_uuid, procedure, request_hash, hash_version, created, completed, expires,
           order_id)
        SELECT ('019303cd-4f01-7000-8000-' || lpad(n::text, 12, '0'))::uuid, n::text, md5((n % 3)::text)::uuid, 'p/Q',
               '\\x00', 1, now() - (31 - n) * interval '1 hour', now() - (31 - n) * interval '1 hour',
               now() + interval '1 day', md5(n::text)::uuid
          FROM generate_series(1, 30) AS n;
        INSERT INTO app.outbox (order_id, user_id, status)
        SELECT md5(n::text)::uuid, md5((n % 3)::text)::uuid, CASE WHEN n < 23 THEN 'done' ELSE 'pending' END
          FROM generate_series(1, 29) AS n;
        """);
    String outbox =
        "SELECT status FROM app.outbox WHERE order_id = :resource_id AND user_id = :user_id"
            + " AND :tenant || :project = '' ORDER BY id DESC LIMIT 1";
    String[] work = {"work", "--procedure", "p/Q", "--outbox", outbox, "--output", "json"};

    List<JsonObject> statuses = shell.run(work).expect(ExitCode.OK).json();
    assertThat(statuses)
        .extracting(
            each -> each.get("status").getAsString(), each -> each.get("records").getAsInt())
        .containsExactly(tuple("done", 22), tuple("no entry", 1), tuple("pending", 7));
    assertThat(statuses.get(0).get("oldest_operations").getAsJsonArray())
        .hasSize(20)
        .first()
        .extracting(JsonElement::getAsString)
        .isEqualTo("019303cd-4f01-7000-8000-000000000001");
    assertThat(statuses.get(2).get("oldest_seconds").getAsLong()).isGreaterThanOrEqualTo(8 * 3600);

    Result limited = shell.run("work", "--procedure", "p/Q", "--outbox", outbox, "--limit", "3");
    assertThat(limited.expect(ExitCode.OK).out()).containsPattern("pending +2 +3h");
    assertThat(limited.err()).contains("older records were not read");
    assertThat(shell.run("work", "--procedure", "p/R", "--outbox", outbox).err())
        .contains("no record matches");
    assertThat(
            shell
                .run("work", "--procedure", "p/Q", "--outbox", "SELECT 1")
                .expect(ExitCode.USAGE)
                .err())
        .contains(":resource_id");
    assertThat(auditor().run(work).expect(ExitCode.NO_RIGHT).err())
        .contains("permission denied for schema app");
    shell
        .run("work", "--procedure", "p/Q", "--outbox", outbox, "--limit", "0")
        .expect(ExitCode.USAGE);
  }

  @Test
  void sweepDeletesWhatHasExpired() {
    assertThat(shell.run("sweep", "--reason", "it lags").expect(ExitCode.OK).out())
        .contains("expired records deleted: 1");
    assertThat(shell.run("sweep", "--reason", "r", "--output", "json").expect(ExitCode.OK).out())
        .isEqualToIgnoringNewLines("{\"swept\":0}");
    assertThat(ids("list", "--expired")).isEmpty();
    assertThat(shell.run("audit", "--act", "sweep").expect(ExitCode.OK).out())
        .contains("done, 1 deleted");
  }

  @Test
  void theAuditIsReadFromTheNewestActOn() {
    IntStream.range(0, 3)
        .forEach(i -> shell.run("free", ABSENT, "--reason", "try " + i).expect(ExitCode.NEGATIVE));

    List<JsonObject> newest = shell.run("audit", "--limit", "2", "--output", "json").json();
    assertThat(newest)
        .extracting(act -> act.get("reason").getAsString())
        .containsExactly("try 2", "try 1");
    assertThat(shell.run("audit").out()).contains("REASON", "not_found", "try 2");
    assertThat(shell.run("audit", STUCK).err())
        .contains("no operator has done anything that matches");
  }

  @Test
  void theMessageForAMissingRightNamesItsGrant() {
    Shell stranger = shell.and("IDEMPOTENCY_USER", Orders.STRANGER);

    for (String[] command :
        new String[][] {
          {"list"},
          {"show", STUCK},
          {"stats"},
          {"audit"},
          {"free", STUCK, "--reason", "r"},
          {"forget", FAILED, "--reason", "r"},
          {"sweep", "--reason", "r"}
        }) {
      assertThat(stranger.run(command).expect(ExitCode.NO_RIGHT).err())
          .contains("orders_stranger", "grant_operator_to");
    }
  }

  @Test
  void aMissingSchemaIsReported() {
    shell.run("list", "--schema", "nowhere").expect(ExitCode.WRONG_SCHEMA);
    shell.and("IDEMPOTENCY_SCHEMA", "nowhere").run("stats").expect(ExitCode.WRONG_SCHEMA);
    shell
        .and("IDEMPOTENCY_URL", Orders.url(database).replaceFirst("/[^/]*$", "/nowhere"))
        .run("stats")
        .expect(ExitCode.UNREACHABLE);
  }

  @Test
  void theUrlMayBeSpeltAsPsqlSpellsIt() {
    String url = Orders.url(database).replaceFirst("^jdbc:postgresql", "postgres");

    shell.run("stats", "--url", url).expect(ExitCode.OK);
    shell
        .run("stats", "--url", url.replace("//", "//%6frders_stranger@"))
        .expect(ExitCode.NO_RIGHT);
  }

  private Shell auditor() {
    return shell.and("IDEMPOTENCY_USER", Orders.AUDITOR);
  }

  private List<String> ids(String... list) {
    String[] json = Arrays.copyOf(list, list.length + 2);
    json[list.length] = "--output";
    json[list.length + 1] = "json";
    return shell.run(json).expect(ExitCode.OK).json().stream()
        .map(operation -> operation.get("operation").getAsString())
        .toList();
  }
}
