package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.example.TestClient.user;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.FileAppender;
import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.github.grpcidempotency.test.Program;
import io.github.grpcidempotency.test.RepositoryRoot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** The questions that {@code docs/operations/logs.md} answers from a log in its own format. */
@ExtendWith(SharedExample.class)
class LogQueriesTest {
  private static final Path PAGE = RepositoryRoot.resolve("docs/operations/logs.md");
  private static final Pattern FORMAT = Pattern.compile("<pattern>(.*)</pattern>");
  private static final Pattern QUERY = Pattern.compile("(?m)^grep .*$");

  private final ApiKeys apiKeys;

  LogQueriesTest(RunningExample example) {
    this.apiKeys = ApiKeys.inNewProject(example.client(), user(UUID.randomUUID()));
  }

  @Test
  void theLogNamesTheRecordsOfReusedKeysAndTheKeysThatFailAgainAndAgain(@TempDir Path directory)
      throws Exception {
    UUID reused = UuidCreator.getTimeOrderedEpoch();
    UUID failing = UuidCreator.getTimeOrderedEpoch();
    ApiKeys elsewhere = new ApiKeys(apiKeys.client(), apiKeys.user(), UUID.randomUUID().toString());
    Logger logger = (Logger) LoggerFactory.getLogger("io.github.grpcidempotency.decision");
    FileAppender<ILoggingEvent> log = log(logger, directory.resolve("shop-1.log"));
    String operation;
    try {
      logger.addAppender(log);
      logger.setLevel(Level.DEBUG);
      operation =
          String.valueOf(
              apiKeys.create("capcom", reused).trailers().get(IdempotencyMetadata.OPERATION));
      apiKeys.refusedCreate("another", reused);
      apiKeys.refusedCreate("a third", reused);
      for (int delivery = 0; delivery < 12; delivery++) {
        elsewhere.refusedCreate("capcom", failing);
      }
      elsewhere.refusedCreate("capcom", UuidCreator.getTimeOrderedEpoch());
    } finally {
      logger.setLevel(null);
      logger.detachAppender(log);
      log.stop();
    }

    List<List<String>> answers =
        QUERY
            .matcher(Files.readString(PAGE))
            .results()
            .map(query -> run(query.group(), directory))
            .toList();

    String procedure = "procedure=organization.v1.APIKeyService/CreateAPIKey";
    assertThat(answers).hasSize(2);
    assertThat(answers.get(0))
        .singleElement()
        .asString()
        .matches(
            " *2 %s cause=request operation=%s key_hash=[0-9a-f]{16} *"
                .formatted(procedure, operation));
    assertThat(answers.get(1))
        .as("the failures from the tenth on")
        .singleElement()
        .asString()
        .matches(" *3 %s key_hash=[0-9a-f]{16} *".formatted(procedure));
  }

  /** Writes a log as the page configures it. */
  private static FileAppender<ILoggingEvent> log(Logger logger, Path file) throws IOException {
    PatternLayoutEncoder encoder = new PatternLayoutEncoder();
    encoder.setContext(logger.getLoggerContext());
    encoder.setPattern(
        FORMAT.matcher(Files.readString(PAGE)).results().findFirst().orElseThrow().group(1));
    encoder.start();
    FileAppender<ILoggingEvent> log = new FileAppender<>();
    log.setContext(logger.getLoggerContext());
    log.setFile(file.toString());
    log.setEncoder(encoder);
    log.start();
    return log;
  }

  private static List<String> run(String query, Path directory) {
    try {
      Process shell =
          Program.BASH
              .process("-euo", "pipefail", "-c", query)
              .directory(directory.toFile())
              .redirectErrorStream(true)
              .start();
      List<String> lines =
          new String(shell.getInputStream().readAllBytes(), UTF_8).lines().toList();
      assertThat(shell.waitFor()).as("%s: %s", query, lines).isZero();
      return lines;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(ended);
    }
  }
}
