package io.github.grpcidempotency.torture.failover;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import io.github.grpcidempotency.fault.Signals;
import io.github.grpcidempotency.test.Program;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A directory for the files and processes of one cluster. PostgreSQL refuses to run as root, so
 * root starts all of them as the user {@code postgres}.
 */
final class Workplace implements AutoCloseable {
  private static final File NOTHING = new File("/dev/null");
  private static final String USER = "postgres";
  private static final boolean ROOT = System.getProperty("user.name").equals("root");

  private final Path directory;
  private final Path logs;
  private final Map<String, Process> started = new LinkedHashMap<>();

  /**
   * Makes one.
   *
   * @param logs where the output of its processes is kept
   */
  Workplace(Path logs) {
    this.logs = logs;
    try {
      Files.createDirectories(logs);
      this.directory = Files.createTempDirectory("failover");
      own(directory);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    Runtime.getRuntime().addShutdownHook(new Thread(this::killAll));
  }

  static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  Path directory(String name) {
    try {
      return own(Files.createDirectory(directory.resolve(name)));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  Path file(String name, String text) {
    try {
      return own(Files.writeString(directory.resolve(name), text));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Starts a process that a terminal's signals do not reach. Its output goes to {@link #log}. */
  Process start(String name, Program program, String... arguments) {
    List<String> all = new ArrayList<>();
    if (ROOT) {
      all.addAll(List.of("setpriv", "--reuid", USER, "--regid", USER, "--clear-groups"));
    }
    all.addAll(program.process(arguments).command());
    ProcessBuilder builder =
        Program.SETSID
            .process(all)
            .directory(directory.toFile())
            .redirectInput(NOTHING) // a backend whose postmaster was killed may read it to its end
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.to(log(name).toFile()));
    builder.environment().keySet().removeIf(variable -> variable.startsWith("PG"));
    builder.environment().put("LC_ALL", "C.UTF-8");
    builder.environment().put("HOME", directory.toString());
    try {
      Process process = builder.start();
      started.put(name, process);
      return process;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  Path log(String name) {
    return logs.resolve(name + ".log");
  }

  /** Kills whatever still runs, and deletes all files. */
  @Override
  public void close() {
    killAll();
    try {
      MoreFiles.deleteRecursively(directory, RecursiveDeleteOption.ALLOW_INSECURE);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** A postmaster is no child of the Patroni that started it, but names its directory. */
  private void killAll() {
    List<ProcessHandle> all =
        Stream.concat(
                started.values().stream().map(Process::toHandle),
                ProcessHandle.allProcesses().filter(this::worksHere))
            .flatMap(process -> Stream.concat(Stream.of(process), process.descendants()))
            .filter(ProcessHandle::isAlive)
            .distinct()
            .toList();
    Signals.send("KILL", all.stream().map(ProcessHandle::pid).toList());
    all.forEach(process -> process.onExit().join());
  }

  private boolean worksHere(ProcessHandle process) {
    return process.info().commandLine().orElse("").contains(directory + "/");
  }

  private static Path own(Path path) throws IOException {
    if (ROOT) {
      var users = path.getFileSystem().getUserPrincipalLookupService();
      Files.setOwner(path, users.lookupPrincipalByName(USER));
    }
    String rights = Files.isDirectory(path) ? "rwxr-xr-x" : "rw-r--r--";
    return Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(rights));
  }
}
