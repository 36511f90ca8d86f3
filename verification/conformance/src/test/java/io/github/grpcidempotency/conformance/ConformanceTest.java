package io.github.grpcidempotency.conformance;

import static io.github.grpcidempotency.test.Program.PYTHON3;
import static io.github.grpcidempotency.test.Program.REDIS;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.github.grpcidempotency.conformance.v1.Case;
import io.github.grpcidempotency.conformance.v1.Section;
import io.github.grpcidempotency.redis.RedisIdempotencyStore;
import io.github.grpcidempotency.test.NeedsProgram;
import io.github.grpcidempotency.test.RepositoryRoot;
import io.github.grpcidempotency.testing.PostgresFixture;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.lettuce.core.RedisURI;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The runner against the library. */
class ConformanceTest {
  @RegisterExtension static final PostgresFixture DATABASE = ServerUnderTest.database();

  private static final Path PYTHON_SERVER =
      RepositoryRoot.resolve("verification/conformance/python/server.py");

  @ParameterizedTest
  @EnumSource
  void theLibraryConforms(ServerUnderTest.Form form, @TempDir Path folder) throws IOException {
    try (ServerUnderTest server =
        new ServerUnderTest(DATABASE.newPool(20), form, ConformanceTest::pass)) {
      Path json = folder.resolve("results.json");
      Run run = Run.of(server.address(), "--json", json.toString());

      assertThat(run.code()).as(run.output()).isZero();
      assertThat(run.output())
          .contains(
              "The server passed \"Idempotency keys for gRPC\" 1.0-draft: core, concurrent, recovery.")
          .contains(" 0 failed, 0 not offered");
      JsonObject results = JsonParser.parseString(Files.readString(json)).getAsJsonObject();
      assertThat(results.getAsJsonArray("cases").asList())
          .hasSizeGreaterThan(80)
          .allSatisfy(
              each ->
                  assertThat(each.getAsJsonObject().get("verdict").getAsString())
                      .isEqualTo("passed"));
    }
  }

  @Test
  @NeedsProgram(REDIS)
  void theLibraryConformsOverRedis(@TempDir Path folder) throws IOException {
    int port = freePort();
    Process redis =
        REDIS
            .process(
                "--port",
                String.valueOf(port),
                "--bind",
                "127.0.0.1",
                "--dir",
                folder.toString(),
                "--save",
                "",
                "--appendonly",
                "yes",
                "--appendfsync",
                "always")
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      await().atMost(Duration.ofMinutes(2)).until(() -> accepts(port));
      try (RedisIdempotencyStore store =
              RedisIdempotencyStore.builder(RedisURI.create("127.0.0.1", port)).build();
          ServerUnderTest server =
              new ServerUnderTest(
                  DATABASE.newPool(20),
                  store,
                  ServerUnderTest.Form.RESERVED,
                  ConformanceTest::pass)) {
        Run run = Run.of(server.address());

        assertThat(run.code()).as(run.output()).isZero();
        assertThat(run.output())
            .contains("1.0-draft: core, concurrent, recovery.")
            .contains(" 0 failed, 0 not offered");
      }
    } finally {
      redis.destroyForcibly().onExit().join();
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private static boolean accepts(int port) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    } catch (IOException refused) {
      return false;
    }
  }

  /** The server was written from the specification alone. */
  @Test
  @NeedsProgram(PYTHON3)
  void aServerInAnotherLanguageConforms() throws IOException {
    Run run = againstPython(PYTHON_SERVER);

    assertThat(run.code()).as(run.output()).isZero();
    assertThat(run.output())
        .contains("1.0-draft: core, concurrent.")
        .contains(" 0 failed, 13 not offered"); // Recovery
  }

  /** Faults of a store, which nothing between runner and server can plant. */
  @ParameterizedTest
  @NeedsProgram(PYTHON3)
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          if first_request != request:      | if False:               | another-request-is-refused
          if first_method != method:        | if False:               | another-method-is-refused
          compared.ClearField("sent")       | pass                    | an-excluded-field-does-not-matter
          compared.CopyFrom(request)        | compared.CopyFrom(request); compared.DiscardUnknownFields() | an-unknown-field-matters
          failed.code not in self.terminal  | False                   | an-error-releases-the-key
          failed.code not in self.terminal  | True                    | a-terminal-error-is-replayed
          complete(caller, key, outcome, effects) | write_unprotected(effects) | a-retry-is-replayed
          keys[0].lower() if keys           | keys[0] if keys         | upper-case-is-the-same-key
          if required and not keys:         | if caller and not keys: | a-missing-required-key-is-refused-before-its-caller
          WHERE caller = ? AND key = ?",    | WHERE caller = ? AND key = ? AND code IS NOT NULL", | a-duplicate-is-refused-or-waits
          """)
  void aFaultOfAStoreIsFoundByTheCaseOfItsSentence(
      String right, String wrong, String foundBy, @TempDir Path folder) throws IOException {
    String server = Files.readString(PYTHON_SERVER);
    assertThat(server).contains(right);
    Path faulty =
        Files.writeString(
            folder.resolve("server.py"),
            server.replace("INSERT INTO records", "REPLACE INTO records").replace(right, wrong));

    Run run = againstPython(faulty, "--case", foundBy);

    assertThat(run.code()).as(run.output()).isOne();
    assertThat(run.output()).contains("1 failed").doesNotContain("UNAVAILABLE", "UNKNOWN");
  }

  private static Run againstPython(Path program, String... arguments) throws IOException {
    Process server =
        PYTHON3
            .process("-B", program.toString(), "0") // no compiled files among the sources
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    try (BufferedReader port = server.inputReader(UTF_8)) {
      return Run.of(
          Stream.concat(Stream.of("localhost:" + port.readLine()), Stream.of(arguments))
              .toArray(String[]::new));
    } finally {
      server.destroyForcibly();
    }
  }

  @Test
  void eachPlantedViolationIsFoundByTheCaseOfItsSentence() {
    AtomicReference<ServerInterceptor> planted = new AtomicReference<>(ConformanceTest::pass);
    try (ServerUnderTest server =
        new ServerUnderTest(
            DATABASE.newPool(20),
            ServerUnderTest.Form.TRANSACTIONAL,
            new ServerInterceptor() {
              @Override
              public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
                  ServerCall<RequestT, ResponseT> call,
                  Metadata headers,
                  ServerCallHandler<RequestT, ResponseT> next) {
                return planted.get().interceptCall(call, headers, next);
              }
            })) {
      for (Violation violation : Violation.values()) {
        planted.set(violation);
        Run run = Run.of(server.address(), "--case", violation.foundBy());

        assertThat(run.code()).as("%s: %s", violation, run.output()).isOne();
        assertThat(run.output()).as(violation.name()).contains("1 failed");
      }
    }
  }

  @Test
  void everyCaseNamesASentenceAndHasANameOfItsOwn() {
    Specification specification = Specification.load();
    List<Case> cases =
        Cases.load().stream().map(Section::getCaseList).flatMap(List::stream).toList();

    assertThat(cases)
        .allSatisfy(
            each ->
                assertThat(specification.sentence(each.getSentence()))
                    .as(each.getName())
                    .isPresent());
    assertThat(cases).extracting(Case::getName).doesNotHaveDuplicates();
  }

  @Test
  void aCaseIsExplainedByItsSentenceAndByWhatCameBack() {
    try (ServerUnderTest server =
        new ServerUnderTest(
            DATABASE.newPool(20), ServerUnderTest.Form.RESERVED, ConformanceTest::pass)) {
      Run run = Run.of(server.address(), "--explain", "a-retry-is-replayed");

      assertThat(run.code()).isZero();
      assertThat(run.output())
          .startsWith("6.4 The response of a replay MUST be the response of the first answer")
          .contains("> Run")
          .contains("trailer idempotency-replayed: true")
          .endsWith("passed\n");
      assertThat(Run.of(server.address(), "--case", "a-retry-is-replayed").output())
          .contains("1 passed")
          .doesNotContain("The server passed");
    }
  }

  @Test
  void aCaseOrServerThatIsMissingIsAnErrorOfTheArguments() {
    assertThat(Run.of("localhost:1", "--case", "none").code()).isEqualTo(2);
    assertThat(Run.of().code()).isEqualTo(2);
  }

  @Test
  void aServerThatIsNotThereFailsEveryCase() {
    Run run = Run.of("localhost:1", "--case", "a-retry-is-replayed");

    assertThat(run.code()).isOne();
    assertThat(run.output()).contains("code: OK, not UNAVAILABLE").contains("1 failed");
  }

  static <RequestT, ResponseT> ServerCall.Listener<RequestT> pass(
      ServerCall<RequestT, ResponseT> call,
      Metadata headers,
      ServerCallHandler<RequestT, ResponseT> next) {
    return next.startCall(call, headers);
  }
}
