package io.github.grpcidempotency.test;

import static java.lang.ProcessBuilder.Redirect.DISCARD;
import static java.util.Comparator.comparingInt;

import com.google.common.collect.ImmutableList;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import redis.embedded.core.ExecutableProvider;

/**
 * A program that tests start. No other class of the tests looks for programs or starts them. A test
 * of a program that a machine with a JDK and Maven may not have is annotated {@link NeedsProgram}.
 */
public enum Program {
  BASH("bash"),
  CC("gcc"),
  CHROMEDRIVER("chromium-driver"),
  CHROMIUM("chromium"),
  ETCD("etcd-server"),
  GIT("git"),
  HAPROXY("haproxy"),
  INITDB("postgresql"),
  /** The JVM that runs the tests. */
  JAVA("openjdk-17-jdk-headless"),
  /** Makes the site of the pages. */
  MKDOCS("mkdocs python3-pygments"),
  MVN("maven"),
  /** With gRPC, from the npm registry. */
  NODE(
      "npm && npm ci --prefix " + RepositoryRoot.INTEROP,
      "-e",
      "require.resolve('@grpc/grpc-js', {paths: ['" + RepositoryRoot.INTEROP + "']})"),
  OPENSSL("openssl"),
  PATRONI("patroni"),
  PG_DUMP("postgresql-client"),
  PG_RESTORE("postgresql-client"),
  PGBOUNCER("pgbouncer"),
  POSTGRES("postgresql"),
  PROMETHEUS("prometheus"),
  PROMTOOL("prometheus"),
  PSQL("postgresql-client"),
  /** With gRPC. Debian's packages belong to Debian's Python, which may not be the first. */
  PYTHON3("python3-grpcio python3-protobuf", "-c", "import grpc, google.protobuf"),
  /** Redis or Valkey: named by a property, in a jar, or installed. The jar's needs libssl3. */
  REDIS("libssl3", "--version"),
  SETSID("util-linux"),
  TAR("tar"),
  UNSHARE("util-linux");

  private static final Map<Program, Optional<Path>> FOUND = new ConcurrentHashMap<>();
  private static final Path POSTGRES_VERSIONS = Path.of("/usr/lib/postgresql");

  private final String packages;
  private final ImmutableList<String> probe;

  /**
   * Describes a program.
   *
   * @param packages the Debian packages that contain it
   * @param probe arguments with which the program succeeds if it is usable; none if any is
   */
  Program(String packages, String... probe) {
    this.packages = packages;
    this.probe = ImmutableList.copyOf(probe);
  }

  /** Returns a builder of a process that runs the program. */
  public ProcessBuilder process(String... arguments) {
    return process(List.of(arguments));
  }

  /** Returns a builder of a process that runs the program. */
  public ProcessBuilder process(List<String> arguments) {
    List<String> command = new ArrayList<>(List.of(path().toString()));
    if (this == JAVA) {
      // gRPC loads a native library of Netty, of which JDK 24 and later warn.
      command.add("--enable-native-access=ALL-UNNAMED");
    }
    command.addAll(arguments);
    return command(command);
  }

  /** Returns a builder of a process that runs a file which is known to be there. */
  public static ProcessBuilder command(List<String> command) {
    return new ProcessBuilder(command);
  }

  /** Returns the file of the program, which is installed. */
  public Path path() {
    return find().orElseThrow(() -> new IllegalStateException(absence()));
  }

  boolean isInstalled() {
    return find().isPresent();
  }

  /** Returns the program that this machine lacks, and how to install it. */
  String absence() {
    String usable = probe.isEmpty() ? "" : " that runs `" + String.join(" ", probe) + "`";
    return "there is no %s%s: apt-get install %s".formatted(lowerCaseName(), usable, packages);
  }

  private String lowerCaseName() {
    return name().toLowerCase(Locale.ROOT);
  }

  private Optional<Path> find() {
    return FOUND.computeIfAbsent(
        this,
        program ->
            program
                .candidates()
                .filter(file -> Files.isRegularFile(file) && Files.isExecutable(file))
                .filter(program::isUsable)
                .findFirst());
  }

  private Stream<Path> candidates() {
    return switch (this) {
      case JAVA -> Stream.of(Path.of(System.getProperty("java.home"), "bin", "java"));
      // Debian keeps these out of the PATH, in a folder for each version.
      case INITDB, POSTGRES ->
          postgresVersions().map(each -> each.resolve("bin/" + lowerCaseName()));
      case REDIS -> redisServers();
      default -> inPath(lowerCaseName());
    };
  }

  private static Stream<Path> inPath(String command) {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
        .map(folder -> Path.of(folder, command));
  }

  /** Returns the folders of the installed versions, the newest first. */
  private static Stream<Path> postgresVersions() {
    if (!Files.isDirectory(POSTGRES_VERSIONS)) {
      return Stream.empty();
    }
    try (Stream<Path> versions = Files.list(POSTGRES_VERSIONS)) {
      return versions.sorted(comparingInt(Program::number).reversed()).toList().stream();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static int number(Path version) {
    return Integer.parseInt(version.getFileName().toString());
  }

  private static Stream<Path> redisServers() {
    String named = System.getProperty("redis.server", "");
    return named.isEmpty()
        ? Stream.of(Stream.of(embeddedRedis()), inPath("redis-server"), inPath("valkey-server"))
            .flatMap(each -> each)
        : Stream.of(Path.of(named));
  }

  private static Path embeddedRedis() {
    try {
      return ExecutableProvider.newJarResourceProvider().get().toPath();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private boolean isUsable(Path file) {
    if (probe.isEmpty()) {
      return true;
    }
    List<String> command = new ArrayList<>(List.of(file.toString()));
    command.addAll(probe);
    try {
      Process process = command(command).redirectError(DISCARD).redirectOutput(DISCARD).start();
      return process.waitFor(30, TimeUnit.SECONDS) && process.exitValue() == 0;
    } catch (IOException unusable) {
      return false;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
