package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.example.TestClient.user;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.example.TestClient.Reply;
import io.github.grpcidempotency.example.organization.v1.CreateAPIKeyResponse;
import io.grpc.Metadata;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What the database's files reveal about an API key's token. */
@ExtendWith(SharedExample.class)
class SecretsAtRestTest {

  private final Metadata ada = user(UUID.randomUUID());
  private final UUID key = UuidCreator.getTimeOrderedEpoch();
  private final RunningExample example;

  SecretsAtRestTest(RunningExample example) {
    this.example = example;
  }

  @Test
  void noFileOfTheDatabaseContainsTheTokenAndARetryStillGetsIt() throws IOException {
    ApiKeys apiKeys = ApiKeys.inNewProject(example.client(), ada);
    Reply<CreateAPIKeyResponse> first = apiKeys.create("capcom-of-this-test", key);
    Reply<CreateAPIKeyResponse> again = apiKeys.create("capcom-of-this-test", key);
    assertThat(again.isReplayed()).isTrue();
    assertThat(again.response()).isEqualTo(first.response());

    String token = first.response().getToken();
    assertThat(filesWith(token.substring("key_".length()))).isEmpty();
    assertThat(filesWith("capcom-of-this-test"))
        .as("the search finds what is there, in tables and in the log")
        .anyMatch(file -> file.contains("base/"))
        .anyMatch(file -> file.contains("pg_wal/"));
  }

  /** Searches all files of the database, its log of changes included. */
  private List<String> filesWith(String text) throws IOException {
    Path directory;
    try (Handle superuser = example.superuser()) {
      superuser.execute("CHECKPOINT");
      directory = Path.of(superuser.createQuery("SHOW data_directory").mapTo(String.class).one());
    }
    try (Stream<Path> files = Files.walk(directory)) {
      return files
          .filter(Files::isRegularFile)
          .filter(file -> content(file).contains(text))
          .map(Path::toString)
          .toList();
    }
  }

  /** A file that PostgreSQL removes meanwhile holds nothing. */
  private static String content(Path file) {
    try {
      return Files.readString(file, ISO_8859_1); // which knows every byte
    } catch (IOException gone) {
      return "";
    }
  }
}
