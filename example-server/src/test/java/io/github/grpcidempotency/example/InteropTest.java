package io.github.grpcidempotency.example;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.Descriptors.FileDescriptor;
import io.github.grpcidempotency.example.organization.v1.CreateNodePoolRequest;
import io.github.grpcidempotency.example.organization.v1.CreateProjectRequest;
import io.github.grpcidempotency.test.RepositoryRoot;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients in other languages: what is on the wire is the contract, not our own classes. */
@ExtendWith(SharedExample.class)
class InteropTest {
  private static final Path CLIENTS = Path.of("src/test/interop").toAbsolutePath();
  private static final Path PROTOS = Path.of("src/main/protobuf").toAbsolutePath();
  private static final Path LIBRARY_PROTOS = RepositoryRoot.resolve("proto/src/main/protobuf");

  /** Debian's packages belong to Debian's Python, which need not be the first on the PATH. */
  private static final List<String> PYTHONS = List.of("python3", "/usr/bin/python3");

  /** A transactional call in flight holds an advisory lock, and no row. */
  private static final String RUNNING =
      "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted";

  @Test
  @Timeout(120)
  void aNodeClientCreatesRetriesAndReadsTrailersAndRichErrors(RunningExample example)
      throws IOException, InterruptedException {
    assumeNode();

    playedThrough(
        example,
        "node",
        CLIENTS.resolve("client.js").toString(),
        String.valueOf(example.server().port()),
        PROTOS.toString(),
        LIBRARY_PROTOS.toString());
  }

  @Test
  @Timeout(120)
  void aPythonClientCreatesRetriesAndReadsTrailersAndRichErrors(
      RunningExample example, @TempDir Path folder) throws IOException, InterruptedException {
    String python = assumePython();
    Path descriptors = folder.resolve("descriptors");
    Files.write(descriptors, descriptors().toByteArray());

    playedThrough(
        example,
        python,
        "-B", // no compiled files among the sources
        CLIENTS.resolve("client.py").toString(),
        String.valueOf(example.server().port()),
        descriptors.toString());
  }

  @ParameterizedTest
  @ValueSource(strings = {"idempotency.js", "idempotency.py"})
  @Timeout(120)
  void aProgramThatReadersCopyRunsByItself(
      String name, RunningExample example, @TempDir Path folder)
      throws IOException, InterruptedException {
    Path copy = Files.copy(CLIENTS.resolve(name), folder.resolve(name));
    String interpreter;
    if (name.endsWith(".js")) {
      assumeNode();
      interpreter = "node";
    } else {
      interpreter = assumePython();
    }
    ProcessBuilder command =
        new ProcessBuilder(interpreter, copy.toString(), "localhost:" + example.server().port())
            .redirectErrorStream(true);
    command.environment().put("NODE_PATH", CLIENTS.resolve("node_modules").toString());
    Process program = command.start();
    try (BufferedReader says = program.inputReader(UTF_8)) {
      assertThat(says.lines().toList())
          .satisfiesExactly(
              line -> assertThat(line).matches("created [0-9a-f-]{36} (processing|completed)"),
              line -> assertThat(line).matches("replayed [0-9a-f-]{36} true"),
              line ->
                  assertThat(line).isEqualTo("refused INVALID_ARGUMENT IDEMPOTENCY_KEY_REUSED"));
      assertThat(program.waitFor()).isZero();
    } finally {
      program.destroyForcibly();
    }
  }

  private static void assumeNode() throws InterruptedException {
    assumeTrue(runs("node", "--version"), "skipped: there is no node on the PATH");
    assumeTrue(
        Files.isDirectory(CLIENTS.resolve("node_modules")),
        "skipped: run npm ci --prefix example-server/src/test/interop first, as .ci/run does");
  }

  /** Returns a Python that has gRPC. */
  private static String assumePython() throws InterruptedException {
    Optional<String> python = python();
    assumeTrue(
        python.isPresent(),
        "skipped: apt-get install python3-grpcio python3-protobuf first, as .ci/run does");
    return python.orElseThrow();
  }

  /** Holds the client's first call back until others have been retried, and waits for its end. */
  private static void playedThrough(RunningExample example, String... command)
      throws IOException, InterruptedException {
    try (Handle superuser = example.superuser()) {
      superuser.begin();
      superuser.execute("LOCK TABLE tenant.projects IN SHARE MODE");
      Process client =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      try (BufferedReader says = client.inputReader(UTF_8)) {
        assertThat(says.readLine()).isEqualTo("sent");
        await().until(() -> running(example) == 1);
        tell(client, "reserved");

        assertThat(says.readLine()).isEqualTo("retried");
        superuser.commit();

        assertThat(client.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(client.exitValue()).isZero();
      } finally {
        client.destroyForcibly();
      }
    }
  }

  private static Optional<String> python() throws InterruptedException {
    for (String candidate : PYTHONS) {
      if (runs(candidate, "-c", "import grpc, google.protobuf")) {
        return Optional.of(candidate);
      }
    }
    return Optional.empty();
  }

  private static boolean runs(String... command) throws InterruptedException {
    try {
      return new ProcessBuilder(command)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start()
              .waitFor()
          == 0;
    } catch (IOException e) {
      return false;
    }
  }

  /** Returns what the client needs to know of the server. */
  private static FileDescriptorSet descriptors() {
    Set<FileDescriptor> files = new LinkedHashSet<>();
    addWithImports(CreateProjectRequest.getDescriptor().getFile(), files);
    addWithImports(CreateNodePoolRequest.getDescriptor().getFile(), files);
    FileDescriptorSet.Builder set = FileDescriptorSet.newBuilder();
    files.forEach(file -> set.addFile(file.toProto()));
    return set.build();
  }

  /** Adds a file after those it imports. */
  private static void addWithImports(FileDescriptor file, Set<FileDescriptor> files) {
    file.getDependencies().forEach(imported -> addWithImports(imported, files));
    files.add(file);
  }

  private static void tell(Process client, String word) throws IOException {
    client.getOutputStream().write((word + "\n").getBytes(UTF_8));
    client.getOutputStream().flush();
  }

  private static int running(RunningExample example) {
    try (Handle superuser = example.superuser()) {
      return superuser.createQuery(RUNNING).mapTo(Integer.class).one();
    }
  }
}
