package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.example.TestClient.user;
import static org.assertj.core.api.Assertions.assertThat;

import com.github.f4b6a3.uuid.UuidCreator;
import com.google.protobuf.ByteString;
import io.github.grpcidempotency.example.TestClient.Reply;
import io.github.grpcidempotency.example.organization.v1.CreateAPIKeyResponse;
import io.github.grpcidempotency.example.run.server.RunningServer;
import io.github.grpcidempotency.example.run.settings.Keyset;
import io.github.grpcidempotency.example.run.settings.KeysetProtection;
import io.github.grpcidempotency.example.service.Settings;
import io.github.grpcidempotency.procedure.ResponseProtection;
import io.grpc.Metadata;
import io.grpc.Status;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** What the database's files reveal about an API key's token, and what is needed to get it. */
@ExtendWith(SharedExample.class)
class SecretsAtRestTest {
  private static final String SWAP =
      """
      UPDATE idempotency.idempotency_keys AS mine
      SET response_bytes = other.response_bytes
      FROM idempotency.idempotency_keys AS other
      WHERE mine.idempotency_key = :mine AND other.idempotency_key = :other
      """;

  /** A mistake of the operator's, or worse: nothing that a client could do about it. */
  private static final List<Status.Code> CANNOT_BE_TOLD =
      List.of(Status.Code.UNKNOWN, Status.Code.INTERNAL, Status.Code.DATA_LOSS);

  private static final ResponseProtection NONE =
      new ResponseProtection() {
        @Override
        public ByteString seal(ByteString response, ByteString binding) {
          return response;
        }

        @Override
        public ByteString open(ByteString stored, ByteString binding) {
          return stored;
        }
      };

  private final Metadata ada = user(UUID.randomUUID());
  private final UUID key = UuidCreator.getTimeOrderedEpoch();
  private final RunningExample example;

  SecretsAtRestTest(RunningExample example) {
    this.example = example;
  }

  @Test
  void noFileOfTheDatabaseContainsTheTokenAndARetryStillGetsIt() {
    ApiKeys apiKeys = ApiKeys.inNewProject(example.client(), ada);
    Reply<CreateAPIKeyResponse> first = apiKeys.create("capcom-of-this-test", key);
    Reply<CreateAPIKeyResponse> again = apiKeys.create("capcom-of-this-test", key);
    assertThat(again.isReplayed()).isTrue();
    assertThat(again.response()).isEqualTo(first.response());

    checkpoint();
    String token = first.response().getToken();
    assertThat(token).hasSizeGreaterThan(40);
    assertThat(filesWith(token)).isEmpty();
    assertThat(filesWith(token.substring("key_".length()))).isEmpty();
    assertThat(filesWith("capcom-of-this-test"))
        .as("the search finds what is there, in tables and in the log")
        .anyMatch(file -> file.contains("base/"))
        .anyMatch(file -> file.contains("pg_wal/"));
  }

  @Test
  void withoutProtectionTheFilesDoHoldIt() {
    try (RunningServer unprotected = serverWith(NONE);
        TestClient client = new TestClient(unprotected.port())) {
      String token = ApiKeys.inNewProject(client, ada).create("capcom", key).response().getToken();
      checkpoint();
      assertThat(filesWith(token))
          .anyMatch(file -> file.contains("base/"))
          .anyMatch(file -> file.contains("pg_wal/"));
    }
  }

  @Test
  void anAnswerSealedByAnOldKeyIsReplayedAfterARotationAndNotAfterTheKeyIsRemoved(
      @TempDir Path directory) {
    Path keyset = directory.resolve("keyset.json");
    Keyset.create().writeNew(keyset);
    try (RunningServer server = serverWith(new KeysetProtection(keyset));
        TestClient client = new TestClient(server.port())) {
      ApiKeys apiKeys = ApiKeys.inNewProject(client, ada);
      CreateAPIKeyResponse first = apiKeys.create("capcom", key).response();

      Keyset.read(keyset).withNewKey().replace(keyset);
      assertThat(apiKeys.create("capcom", key).response()).isEqualTo(first);
      Keyset.read(keyset).sealingWithNewest().replace(keyset);
      assertThat(apiKeys.create("capcom", key).response()).isEqualTo(first);

      UUID later = UuidCreator.getTimeOrderedEpoch();
      CreateAPIKeyResponse second = apiKeys.create("gnc", later).response();
      assertThat(apiKeys.create("gnc", later).response()).isEqualTo(second);

      Keyset.create().replace(keyset);
      assertThat(apiKeys.refusedCreate("capcom", key).code())
          .as("a record whose key is gone")
          .isIn(CANNOT_BE_TOLD);
    }
  }

  @Test
  void aRecordThatWasPutUnderAnotherKeyDoesNotOpen() {
    ApiKeys apiKeys = ApiKeys.inNewProject(example.client(), ada);
    UUID other = UuidCreator.getTimeOrderedEpoch();
    apiKeys.create("capcom", key);
    apiKeys.create("capcom", other);

    try (Handle superuser = example.superuser()) {
      int swapped =
          superuser
              .createUpdate(SWAP)
              .bind("mine", key.toString())
              .bind("other", other.toString())
              .execute();
      assertThat(swapped).isOne();
    }
    assertThat(apiKeys.create("capcom", other).isReplayed()).isTrue();
    assertThat(apiKeys.refusedCreate("capcom", key).code()).isIn(CANNOT_BE_TOLD);
  }

  /** Starts another server on the same database. */
  private RunningServer serverWith(ResponseProtection secrets) {
    Settings settings = RunningExample.settings(example.database());
    return RunningServer.start(
        0,
        new Settings(
            settings.lease(),
            settings.outboxDelay(),
            settings.usagePeriod(),
            settings.retentions(),
            secrets,
            settings.cloud()),
        example.database());
  }

  /** Has everything written to its files that PostgreSQL still holds in memory. */
  private void checkpoint() {
    try (Handle superuser = example.superuser()) {
      superuser.execute("CHECKPOINT");
    }
  }

  /** Searches all files of the database, its log of changes included. */
  private List<String> filesWith(String text) {
    try (Stream<Path> files = Files.walk(example.database().directory().resolve("postgres"))) {
      return files
          .filter(Files::isRegularFile)
          .filter(file -> content(file).contains(text))
          .map(Path::toString)
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A file that PostgreSQL removes meanwhile holds nothing. */
  private static String content(Path file) {
    try {
      return Files.readString(file, StandardCharsets.ISO_8859_1); // which knows every byte
    } catch (IOException gone) {
      return "";
    }
  }
}
