package io.github.grpcidempotency.torture.failover;

import com.google.common.base.Joiner;
import io.github.grpcidempotency.fault.Pause;
import io.github.grpcidempotency.fault.Signals;
import io.github.grpcidempotency.test.Program;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/**
 * Three durable PostgreSQL nodes under Patroni and etcd, and an HAProxy in front of them. One is
 * the primary; if replication is synchronous, one more has every commit that was confirmed.
 *
 * <p>Each fault leaves a cluster that repairs itself: wait for that by {@link #awaitHealth}. Not
 * for several threads.
 */
public final class PatroniCluster implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final Duration PATIENCE_WITH_REWIND = Duration.ofSeconds(45);
  private static final Duration POLL = Duration.ofMillis(200);
  private static final Duration PATIENCE_AT_THE_END = Duration.ofSeconds(10);
  private static final int NODES = 3;
  private static final String TIMELINE =
      "SELECT CAST(CAST('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) AS bit(32))"
          + " AS bigint)";

  private final Workplace workplace;
  private final boolean synchronous;
  private final Process etcd;
  private final List<PatroniNode> nodes;
  private final int haproxyPort;

  private PatroniCluster(boolean synchronous, String commit, Path logs) {
    this.workplace = new Workplace(logs);
    this.synchronous = synchronous;
    int etcdPort = Workplace.freePort();
    this.etcd = workplace.start("etcd", Program.ETCD, etcd(etcdPort));
    this.nodes =
        IntStream.rangeClosed(1, NODES)
            .mapToObj(
                number -> new PatroniNode(workplace, "n" + number, etcdPort, synchronous, commit))
            .toList();
    this.haproxyPort = startHaproxy();
    awaitHealth();
  }

  /**
   * Starts one, and waits until all nodes stand.
   *
   * @param synchronous whether one replica is synchronous, and only that one is promoted
   * @param commit PostgreSQL's {@code synchronous_commit}
   * @param logs the directory for what its processes say
   */
  public static PatroniCluster start(boolean synchronous, String commit, Path logs) {
    return new PatroniCluster(synchronous, commit, logs);
  }

  private String[] etcd(int port) {
    String client = "http://127.0.0.1:" + port;
    String peer = "http://127.0.0.1:" + Workplace.freePort();
    return new String[] {
      "--data-dir=" + workplace.directory("etcd"),
      "--enable-v2=true",
      "--listen-client-urls=" + client,
      "--advertise-client-urls=" + client,
      "--listen-peer-urls=" + peer,
      "--initial-advertise-peer-urls=" + peer,
      "--initial-cluster=default=" + peer
    };
  }

  /** Its checks ask Patroni, and it cuts the connections to a node that has lost the lead. */
  private int startHaproxy() {
    int port = Workplace.freePort();
    StringBuilder settings =
        new StringBuilder(
            """
            defaults
              mode tcp
              timeout connect 1s
              timeout client 1h
              timeout server 1h
              timeout check 1s
            listen primary
              bind 127.0.0.1:%d
              option httpchk OPTIONS /primary
              http-check expect status 200
              default-server inter 1s fastinter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
            """
                .formatted(port));
    for (PatroniNode node : nodes) {
      settings.append(
          "  server %s 127.0.0.1:%d check port %d%n"
              .formatted(node.name(), node.port(), node.restPort()));
    }
    Path file = workplace.file("haproxy.cfg", settings.toString());
    Process unused = workplace.start("haproxy", Program.HAPROXY, "-f", file.toString());
    return port;
  }

  /** Returns the URL that names all nodes, and asks for the primary. */
  public String jdbcUrl(String role, String database) {
    List<String> hosts = nodes.stream().map(node -> "127.0.0.1:" + node.port()).toList();
    return url(Joiner.on(',').join(hosts), role, database);
  }

  /** Returns the URL that goes through the HAProxy. */
  public String haproxyUrl(String role, String database) {
    return url("127.0.0.1:" + haproxyPort, role, database);
  }

  private static String url(String hosts, String role, String database) {
    return "jdbc:postgresql://%s/%s?user=%s&targetServerType=primary"
        .formatted(hosts, database, role);
  }

  /** Returns the log lines of every node that contain a text. */
  public List<String> logged(String text) {
    List<String> found = new ArrayList<>();
    for (PatroniNode node : nodes) {
      try (Stream<String> lines = node.log()) {
        lines.filter(line -> line.contains(text)).forEach(found::add);
      }
    }
    return found;
  }

  /** Moves the lead to another node, in good order. */
  public void switchOver() {
    PatroniNode leader = awaitLeader();
    Optional<HttpResponse<String>> unused =
        leader.send(
            "POST", "switchover", "{\"leader\": \"%s\"}".formatted(leader.name()), PATIENCE);
  }

  /** Kills the primary's postmaster. */
  public void killPrimary() {
    awaitLeader().killPostgres();
  }

  /** Freezes everything on the primary's node for a while. */
  public void freezePrimary(Duration length) {
    thawAfter(length, awaitLeader().freezeAll());
  }

  /** Freezes the primary's Patroni for a while, and lets its PostgreSQL serve on. */
  public void freezeManager(Duration length) {
    thawAfter(length, awaitLeader().freezeManager());
  }

  /**
   * Sends nothing to any replica for a while, and kills the primary then. What a replica has not
   * been sent by then, it never gets.
   */
  public void killPrimaryWhileReplicasLag(Duration length) {
    PatroniNode leader = awaitLeader();
    List<Long> senders = query(leader, "SELECT pid FROM pg_stat_replication");
    Signals.send("STOP", senders);
    Pause.of(length);
    leader.killPostgres();
    Signals.send("KILL", senders);
  }

  private static void thawAfter(Duration length, PatroniNode.Frozen frozen) {
    try (frozen) {
      Pause.of(length);
    }
  }

  /**
   * Waits until one node leads and all others follow it, one of them synchronously if that is
   * wanted. Does what an operator does with a node that cannot follow: {@code pg_rewind} sometimes
   * leaves one behind that misses the end of a file.
   */
  public void awaitHealth() {
    try {
      awaitHealth(PATIENCE_WITH_REWIND);
    } catch (ConditionTimeoutException someNodeCannotFollow) {
      nodes.stream()
          .filter(node -> !node.is("primary") && !node.is("replica"))
          .forEach(PatroniNode::reinitialize);
      awaitHealth(PATIENCE);
    }
  }

  private void awaitHealth(Duration patience) {
    Awaitility.await("a healthy cluster, whose logs are beside " + workplace.log("etcd"))
        .atMost(patience)
        .pollInterval(POLL)
        .pollInSameThread()
        .until(this::isHealthy);
  }

  /** Returns who leads. */
  public String leaderName() {
    return awaitLeader().name();
  }

  /** Returns the number of the time line on which the primary writes. */
  public long timeline() {
    return Awaitility.await("a time line")
        .atMost(PATIENCE)
        .pollInterval(POLL)
        .pollInSameThread()
        .until(() -> query(awaitLeader(), TIMELINE), found -> !found.isEmpty())
        .get(0);
  }

  private boolean isHealthy() {
    List<PatroniNode> leaders = nodes.stream().filter(node -> node.is("primary")).toList();
    return leaders.size() == 1
        && nodes.stream().filter(node -> node.is("replica")).count() == NODES - 1
        && (!synchronous || nodes.stream().anyMatch(node -> node.is("sync")))
        && query(
                leaders.get(0),
                "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND sync_state IN "
                    + (synchronous ? "('sync', 'quorum')" : "('async')"))
            .contains(synchronous ? 1L : NODES - 1L);
  }

  private PatroniNode awaitLeader() {
    return Awaitility.await("a leader")
        .atMost(PATIENCE)
        .pollInterval(POLL)
        .pollInSameThread()
        .until(
            () -> nodes.stream().filter(node -> node.is("primary")).findFirst(),
            Optional::isPresent)
        .orElseThrow();
  }

  private static List<Long> query(PatroniNode node, String sql) {
    String url =
        "jdbc:postgresql://127.0.0.1:%d/postgres?user=postgres&socketTimeout=2&connectTimeout=2"
            .formatted(node.port());
    List<Long> found = new ArrayList<>();
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      while (rows.next()) {
        found.add(rows.getLong(1));
      }
      return found;
    } catch (SQLException unreachable) {
      return List.of();
    }
  }

  @Override
  public void close() {
    nodes.forEach(PatroniNode::stop);
    nodes.forEach(node -> node.awaitEnd(PATIENCE_AT_THE_END));
    etcd.destroy();
    workplace.close();
  }
}
