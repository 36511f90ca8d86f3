package io.github.grpcidempotency.benchmarks.database;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jdbi.v3.core.Jdbi;

/**
 * Kills a server and measures the replay of its log since the last checkpoint. One process replays
 * the log, as on a replica.
 */
public final class Crash {
  private static final Pattern REDO =
      Pattern.compile("redo done .* CPU: user: ([0-9.]+) s, system: ([0-9.]+) s");

  private Crash() {}

  /**
   * Kills the server, which stays down, and returns the processor time that the replay took.
   *
   * @throws IllegalStateException if PostgreSQL does not report that it replayed anything
   */
  public static Duration replay(Jdbi superuser) throws IOException {
    ProcessHandle postmaster = superuser.withHandle(ServerCpu::postmaster);
    String directory =
        superuser.withHandle(
            handle -> handle.createQuery("SHOW data_directory").mapTo(String.class).one());
    String program = postmaster.info().command().orElseThrow();
    List<ProcessHandle> children = postmaster.children().toList();
    kill(postmaster);
    children.forEach(Crash::kill);
    Process single =
        new ProcessBuilder(unprivileged(program, "--single", "-D", directory, "postgres"))
            .redirectErrorStream(true)
            .start();
    single.getOutputStream().close();
    String said = new String(single.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    Matcher redo = REDO.matcher(said);
    if (!redo.find()) {
      throw new IllegalStateException("nothing was replayed: " + said);
    }
    double seconds = Double.parseDouble(redo.group(1)) + Double.parseDouble(redo.group(2));
    return Duration.ofNanos((long) (seconds * 1e9));
  }

  /**
   * Returns a command for a user without privileges, because PostgreSQL does not run as root. The
   * embedded PostgreSQL then runs in a user namespace.
   */
  private static List<String> unprivileged(String... command) {
    boolean isRoot = System.getProperty("user.name").equals("root");
    return Stream.concat(isRoot ? Stream.of("unshare", "-U") : Stream.of(), Stream.of(command))
        .toList();
  }

  private static void kill(ProcessHandle process) {
    boolean unused = process.destroyForcibly();
    ProcessHandle ended = process.onExit().join();
    if (ended.isAlive()) {
      throw new IllegalStateException("process %d lives on".formatted(process.pid()));
    }
  }
}
