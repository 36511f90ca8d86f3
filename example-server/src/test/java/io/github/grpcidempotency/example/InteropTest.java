package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.test.Program.NODE;
import static io.github.grpcidempotency.test.Program.PYTHON3;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.Descriptors.FileDescriptor;
import io.github.grpcidempotency.example.organization.v1.CreateNodePoolRequest;
import io.github.grpcidempotency.example.organization.v1.CreateProjectRequest;
import io.github.grpcidempotency.test.NeedsProgram;
import io.github.grpcidempotency.test.Program;
import io.github.grpcidempotency.test.RepositoryRoot;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Clients in other languages: what is on the wire is the contract, not our own classes. */
@ExtendWith(SharedExample.class)
class InteropTest {
  private static final Path PROTOS = Path.of("src/main/protobuf").toAbsolutePath();
  private static final Path LIBRARY_PROTOS = RepositoryRoot.resolve("proto/src/main/protobuf");

  /** A transactional call in flight holds an advisory lock, and no row. */
  private static final String RUNNING =
      "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted";

  @Test
  @NeedsProgram(NODE)
  @Timeout(120)
  void aNodeClientCreatesRetriesAndReadsTrailersAndRichErrors(RunningExample example)
      throws IOException, InterruptedException {
    playedThrough(
        example,
        NODE,
        RepositoryRoot.INTEROP.resolve("client.js").toString(),
        String.valueOf(example.server().port()),
        PROTOS.toString(),
        LIBRARY_PROTOS.toString());
  }

  @Test
  @NeedsProgram(PYTHON3)
  @Timeout(120)
  void aPythonClientCreatesRetriesAndReadsTrailersAndRichErrors(
      RunningExample example, @TempDir Path folder) throws IOException, InterruptedException {
    Path descriptors = folder.resolve("descriptors");
    Files.write(descriptors, descriptors().toByteArray());

    playedThrough(
        example,
        PYTHON3,
        "-B", // no compiled files among the sources
        RepositoryRoot.INTEROP.resolve("client.py").toString(),
        String.valueOf(example.server().port()),
        descriptors.toString());
  }

  @Test
  @NeedsProgram(NODE)
  @Timeout(120)
  void theNodeProgramThatReadersCopyRunsByItself(RunningExample example, @TempDir Path folder)
      throws IOException, InterruptedException {
    assertRunsByItself(NODE, "idempotency.js", example, folder);
  }

  @Test
  @NeedsProgram(PYTHON3)
  @Timeout(120)
  void thePythonProgramThatReadersCopyRunsByItself(RunningExample example, @TempDir Path folder)
      throws IOException, InterruptedException {
    assertRunsByItself(PYTHON3, "idempotency.py", example, folder);
  }

  private static void assertRunsByItself(
      Program interpreter, String name, RunningExample example, Path folder)
      throws IOException, InterruptedException {
    Path copy = Files.copy(RepositoryRoot.INTEROP.resolve(name), folder.resolve(name));
    ProcessBuilder command =
        interpreter
            .process(copy.toString(), "localhost:" + example.server().port())
            .redirectErrorStream(true);
    command
        .environment()
        .put("NODE_PATH", RepositoryRoot.INTEROP.resolve("node_modules").toString());
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

  /** Holds the client's first call back until others have been retried, and waits for its end. */
  private static void playedThrough(
      RunningExample example, Program interpreter, String... arguments)
      throws IOException, InterruptedException {
    try (Handle superuser = example.superuser()) {
      superuser.begin();
      superuser.execute("LOCK TABLE tenant.projects IN SHARE MODE");
      Process client =
          interpreter.process(arguments).redirectError(ProcessBuilder.Redirect.INHERIT).start();
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
