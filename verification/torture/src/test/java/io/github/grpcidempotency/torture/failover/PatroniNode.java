package io.github.grpcidempotency.torture.failover;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import io.github.grpcidempotency.fault.Signals;
import io.github.grpcidempotency.test.Program;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** One node: Patroni, and the PostgreSQL that it starts. */
final class PatroniNode {
  private static final HttpClient HTTP =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(1))
          .build();
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  private final Workplace workplace;
  private final String name;
  private final int port = Workplace.freePort();
  private final int restPort = Workplace.freePort();
  private final Path data;
  private final Process manager;

  PatroniNode(Workplace workplace, String name, int etcdPort, boolean synchronous, String commit) {
    this.workplace = workplace;
    this.name = name;
    this.data = workplace.directory(name).resolve("data");
    Path settings = workplace.file(name + ".yml", settings(etcdPort, synchronous, commit));
    this.manager = workplace.start(name, Program.PATRONI, settings.toString());
  }

  /** Times are short, so that a run has many failovers; their proportions are Patroni's advice. */
  private String settings(int etcdPort, boolean synchronous, String commit) {
    return """
        scope: torture
        name: %1$s
        restapi: {listen: '127.0.0.1:%2$d', connect_address: '127.0.0.1:%2$d'}
        etcd: {host: '127.0.0.1:%3$d'}
        bootstrap:
          dcs:
            ttl: 10
            loop_wait: 2
            retry_timeout: 3
            primary_start_timeout: 0
            maximum_lag_on_failover: 1073741824
            synchronous_mode: %4$s
            postgresql:
              use_pg_rewind: true
              use_slots: true
              parameters:
                fsync: 'on'
                synchronous_commit: '%9$s'
                wal_log_hints: 'on'
                max_connections: 200
                shared_buffers: 64MB
                checkpoint_timeout: 30s
                wal_sender_timeout: 5s
                wal_receiver_timeout: 5s
                wal_keep_size: 256MB
                max_wal_senders: 10
          initdb: [encoding: UTF8, auth: trust]
        postgresql:
          listen: '127.0.0.1:%5$d'
          connect_address: '127.0.0.1:%5$d'
          data_dir: %6$s
          bin_dir: %7$s
          pgpass: %6$s.pgpass
          authentication:
            superuser: {username: postgres}
            replication: {username: postgres}
          parameters: {unix_socket_directories: '%8$s'}
          pg_hba:
            - local all all trust
            - host all all 127.0.0.1/32 trust
            - host replication all 127.0.0.1/32 trust
        """
        .formatted(
            name,
            restPort,
            etcdPort,
            synchronous,
            port,
            data,
            Program.POSTGRES.path().getParent(),
            data.getParent(),
            commit);
  }

  String name() {
    return name;
  }

  int port() {
    return port;
  }

  int restPort() {
    return restPort;
  }

  /** Whether Patroni says that it has a role: {@code primary}, {@code replica}, {@code sync}. */
  boolean is(String role) {
    return status("GET", role, "").map(response -> response.statusCode() == 200).orElse(false);
  }

  /** Sends a request to Patroni; empty if it does not answer. */
  Optional<HttpResponse<String>> status(String method, String path, String body) {
    return send(method, path, body, PATIENCE);
  }

  /** The same for what takes its time. */
  Optional<HttpResponse<String>> send(String method, String path, String body, Duration patience) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:%d/%s".formatted(restPort, path)))
            .timeout(patience)
            .header("Content-Type", "application/json")
            .method(
                method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
            .build();
    try {
      return Optional.of(HTTP.send(request, BodyHandlers.ofString()));
    } catch (IOException unreachable) {
      return Optional.empty();
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }

  /** Makes it begin again with a copy of the primary. */
  void reinitialize() {
    Optional<HttpResponse<String>> unused = status("POST", "reinitialize", "{\"force\": true}");
  }

  /** Kills PostgreSQL, and lets Patroni see what comes of it. */
  void killPostgres() {
    Signals.send("KILL", postmaster().map(ProcessHandle::pid).stream().toList());
  }

  /** Stops everything: the machine is gone for a while, and does not know. */
  Frozen freezeAll() {
    return freeze(Stream.concat(Stream.of(manager.toHandle()), postgres()).toList());
  }

  /** Stops Patroni alone; PostgreSQL serves on. */
  Frozen freezeManager() {
    return freeze(
        Stream.concat(Stream.of(manager.toHandle()), manager.descendants()).toList().stream()
            .filter(process -> postgres().noneMatch(process::equals))
            .toList());
  }

  private static Frozen freeze(List<ProcessHandle> processes) {
    List<Long> pids = processes.stream().map(ProcessHandle::pid).toList();
    Signals.send("STOP", pids);
    return () -> Signals.send("CONT", pids);
  }

  /** Goes on when it is closed. */
  interface Frozen extends AutoCloseable {
    @Override
    void close();
  }

  /** Ends Patroni, and PostgreSQL at once, which then leaves nothing behind in the kernel. */
  void stop() {
    Signals.send("KILL", manager.pid());
    Signals.send("QUIT", postmaster().map(ProcessHandle::pid).stream().toList());
  }

  /** Waits for the end of PostgreSQL, for a while. */
  void awaitEnd(Duration patience) {
    postmaster()
        .ifPresent(
            last ->
                last.onExit().completeOnTimeout(last, patience.toMillis(), MILLISECONDS).join());
  }

  /** Returns the lines of PostgreSQL's log, which Patroni passes on. */
  @SuppressWarnings("StreamResourceLeak") // the caller closes it
  Stream<String> log() {
    try {
      return Files.lines(workplace.log(name));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Returns the postmaster and its children. */
  private Stream<ProcessHandle> postgres() {
    List<ProcessHandle> all = new ArrayList<>(postmaster().stream().toList());
    postmaster().ifPresent(first -> all.addAll(first.descendants().toList()));
    return all.stream();
  }

  private Optional<ProcessHandle> postmaster() {
    try {
      String pid = Files.readAllLines(data.resolve("postmaster.pid")).get(0).strip();
      return ProcessHandle.of(Long.parseLong(pid));
    } catch (IOException stopped) {
      return Optional.empty();
    }
  }
}
