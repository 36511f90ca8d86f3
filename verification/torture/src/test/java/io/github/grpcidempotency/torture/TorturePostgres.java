package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.fault.Pause;
import io.github.grpcidempotency.fault.Signals;
import io.github.grpcidempotency.test.Program;
import io.github.grpcidempotency.torture.FaultSchedule.Planned;
import io.github.grpcidempotency.torture.FaultSchedule.Severity;
import io.github.grpcidempotency.torture.History.Fault;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.jdbi.v3.core.Jdbi;

/** A durable PostgreSQL that can be stopped without warning, and started again as it was. */
final class TorturePostgres implements FaultyPostgres {
  /** The name of connections that are left alone. */
  static final String PAST = "past";

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final EmbeddedPostgres embedded;
  private final Path data;
  private final List<String> command = new ArrayList<>();

  private TorturePostgres() throws IOException {
    this.data = Files.createTempDirectory("torture-postgres");
    this.embedded =
        EmbeddedPostgres.builder()
            .setPGStartupWait(Duration.ofMinutes(1))
            .setDataDirectory(data)
            .setCleanDataDirectory(true)
            .setServerConfig("fsync", "on")
            .setServerConfig("synchronous_commit", "on")
            .setServerConfig("full_page_writes", "on")
            .setServerConfig("max_connections", "200")
            .setServerConfig("shared_buffers", "128MB")
            .setServerConfig("checkpoint_timeout", "30s")
            .start();
    ProcessHandle.Info postmaster = postmaster().info();
    if (System.getProperty("user.name").equals("root")) {
      command.addAll(List.of("unshare", "-U")); // as the embedded one was started
    }
    command.add(postmaster.command().orElseThrow());
    command.addAll(List.of(postmaster.arguments().orElseThrow()));
  }

  static TorturePostgres start() {
    try {
      return new TorturePostgres();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  @Override
  public String jdbcUrl(String role, String database) {
    return embedded.getJdbcUrl(role, database);
  }

  @Override
  public Road road(int server, String role, String database) {
    return new Road(jdbcUrl(role, database), true, List.of());
  }

  @Override
  public Jdbi superuser(String database) {
    return Jdbi.create(embedded.getDatabase("postgres", database));
  }

  @Override
  public Fault inject(Planned planned) {
    return switch (planned.kind()) {
      case DATABASE_STOP -> restartAfter("QUIT", planned); // immediately, without a checkpoint
      case DATABASE_KILL -> restartAfter("KILL", planned);
      case READ_ONLY -> makeReadOnlyFor(planned);
      default -> throw new IllegalArgumentException("not for a single node: " + planned.kind());
    };
  }

  private Fault restartAfter(String signal, Planned planned) {
    long start = System.currentTimeMillis();
    end(signal);
    Pause.of(planned.length());
    restart();
    return new Fault(
        planned.kind(), -1, planned.length().toString(), start, System.currentTimeMillis());
  }

  private Fault makeReadOnlyFor(Planned planned) {
    boolean terminates = planned.is(Severity.TERMINATES);
    makeReadOnly(terminates);
    long start = System.currentTimeMillis();
    Pause.of(planned.length());
    long end = System.currentTimeMillis();
    makeWritable();
    String detail = terminates ? "connections ended" : "connections left alone";
    return new Fault(planned.kind(), -1, detail, start, end);
  }

  @Override
  public void allowLogins(boolean allowed) {
    run("ALTER ROLE torture_app " + (allowed ? "LOGIN" : "NOLOGIN"));
  }

  @Override
  public Map<UUID, Long> timelines() {
    return Map.of();
  }

  @Override
  public boolean mayLose() {
    return false;
  }

  /**
   * Starts it again, and waits until it has recovered. It refuses to start while a child of a
   * killed postmaster lives, so several attempts may be needed.
   */
  private void restart() {
    List<Process> launched = new ArrayList<>(List.of(launch()));
    Awaitility.await("PostgreSQL's recovery")
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(50))
        .until(
            () -> {
              if (launched.stream().noneMatch(Process::isAlive)) {
                launched.add(launch());
              }
              return answers();
            });
  }

  /**
   * Lets no transaction write from now on, unless its connection says otherwise.
   *
   * @param terminates whether open connections are ended, rather than made read-only
   */
  private void makeReadOnly(boolean terminates) {
    run("ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()");
    if (terminates) {
      run(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'torture_app'"
              + " AND application_name <> '%s'".formatted(PAST));
    }
  }

  /** Lets transactions write again. */
  private void makeWritable() {
    run("ALTER SYSTEM RESET default_transaction_read_only", "SELECT pg_reload_conf()");
  }

  @Override
  public String version() {
    return superuser("postgres")
        .withHandle(handle -> handle.createQuery("SHOW server_version").mapTo(String.class).one());
  }

  private void run(String... statements) {
    superuser("postgres")
        .useHandle(
            handle -> {
              handle.execute("SET default_transaction_read_only = off");
              for (String statement : statements) {
                handle.execute(statement);
              }
            });
  }

  @Override
  public void close() {
    try {
      embedded.close();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private Process launch() {
    try {
      return Program.command(command)
          .redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.appendTo(data.resolve("restarts.log").toFile()))
          .start();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private void end(String signal) {
    ProcessHandle postmaster = postmaster();
    List<ProcessHandle> all = new ArrayList<>(postmaster.descendants().toList());
    all.add(postmaster);
    Signals.send(signal, postmaster.pid());
    all.forEach(process -> process.onExit().orTimeout(60, TimeUnit.SECONDS).join());
  }

  private ProcessHandle postmaster() {
    try {
      String pid = Files.readAllLines(data.resolve("postmaster.pid")).get(0).strip();
      return ProcessHandle.of(Long.parseLong(pid)).orElseThrow();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private boolean answers() {
    try (Connection connection = embedded.getPostgresDatabase().getConnection()) {
      return connection.isValid(1);
    } catch (SQLException notYet) {
      return false;
    }
  }
}
