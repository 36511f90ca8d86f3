package io.github.grpcidempotency.spring.example;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** The application in a process of its own, which can be killed. */
final class ShopProcess implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final Pattern LISTENING = Pattern.compile("listening on .*port: (\\d+)");

  private final Process process;
  private final Path out;

  private ShopProcess(Process process, Path out) {
    this.process = process;
    this.out = out;
  }

  static ShopProcess start(List<String> arguments) throws IOException {
    Path out = Files.createTempFile("shop", ".out");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // It lives for seconds, of which the verification of its classes is one.
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.addAll(List.of("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(ShopApplication.class.getName());
    command.add("--logging.level.org.springframework.grpc.server=info");
    command.addAll(arguments);
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(out.toFile()).start();
    return new ShopProcess(process, out);
  }

  /** Waits until the server says that it listens, and returns where. */
  int awaitPort() throws IOException {
    await().atMost(PATIENCE).until(() -> port().isPresent() || !process.isAlive());
    return port()
        .orElseThrow(() -> new AssertionError("the application has not started, see " + out));
  }

  private Optional<Integer> port() throws IOException {
    return LISTENING
        .matcher(Files.readString(out))
        .results()
        .map((MatchResult found) -> Integer.valueOf(found.group(1)))
        .findFirst();
  }

  /** As {@code kill -9} does. */
  void kill() {
    process.destroyForcibly().onExit().join();
  }

  @Override
  public void close() {
    kill();
  }
}
