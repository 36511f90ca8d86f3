package io.github.grpcidempotency.torture;

import static java.util.stream.Collectors.toMap;

import io.github.grpcidempotency.torture.FaultSchedule.Planned;
import io.github.grpcidempotency.torture.History.Fault;
import io.github.grpcidempotency.torture.failover.PatroniCluster;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jdbi.v3.core.Jdbi;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A PostgreSQL that fails over. One server names all of its nodes; the other goes through HAProxy,
 * by a way on which its connections can be cut.
 */
final class FailoverPostgres implements FaultyPostgres {
  /** What {@code docs/operations/failover.md} recommends. */
  static final String DRIVER =
      "hostRecheckSeconds=10&connectTimeout=1&sslResponseTimeout=1000&tcpKeepAlive=true";

  private static final String FAILS_OVER = "-D%s=true".formatted(TortureServer.FAILS_OVER);

  /** The message of {@code timelines.sql}. */
  private static final Pattern TIMELINE =
      Pattern.compile("torture effect (\\S+) on time line ([0-9A-F]{8})");

  private final PatroniCluster cluster;
  private final Setting setting;

  /**
   * How it replicates.
   *
   * @param synchronous whether one replica is synchronous, and only that one is promoted
   * @param commit PostgreSQL's {@code synchronous_commit}
   * @param behindHaproxy the server that goes through HAProxy
   */
  record Setting(boolean synchronous, String commit, int behindHaproxy) {
    private static final List<String> WITHOUT_REPLICA = List.of("local", "off");

    boolean mayLose() {
      return !synchronous || WITHOUT_REPLICA.contains(commit);
    }
  }

  private FailoverPostgres(Setting setting, Path logs) {
    this.cluster = PatroniCluster.start(setting.synchronous, setting.commit, logs);
    this.setting = setting;
  }

  static FailoverPostgres start(Setting setting, Path logs) {
    return new FailoverPostgres(setting, logs);
  }

  @Override
  public String jdbcUrl(String role, String database) {
    return cluster.jdbcUrl(role, database) + "&connectTimeout=2&socketTimeout=30";
  }

  @Override
  public Road road(int server, String role, String database) {
    boolean proxied = server == setting.behindHaproxy;
    String url = proxied ? cluster.haproxyUrl(role, database) : cluster.jdbcUrl(role, database);
    return new Road(url + "&" + DRIVER, proxied, List.of(FAILS_OVER));
  }

  @Override
  public Jdbi superuser(String database) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setUrl(jdbcUrl("postgres", database));
    return Jdbi.create(source);
  }

  @Override
  public String version() {
    return superuser("postgres")
        .withHandle(handle -> handle.createQuery("SHOW server_version").mapTo(String.class).one());
  }

  @Override
  public Fault inject(Planned planned) {
    String before = "%s on %d".formatted(cluster.leaderName(), cluster.timeline());
    long start = System.currentTimeMillis();
    switch (planned.kind()) {
      case SWITCHOVER -> cluster.switchOver();
      case PRIMARY_KILL -> cluster.killPrimary();
      case PRIMARY_FREEZE -> cluster.freezePrimary(planned.length());
      case MANAGER_FREEZE -> cluster.freezeManager(planned.length());
      case LAGGING_REPLICAS -> cluster.killPrimaryWhileReplicasLag(planned.length());
      default -> throw new IllegalArgumentException("not for several nodes: " + planned.kind());
    }
    cluster.awaitHealth();
    String what = "%s to %s on %d".formatted(before, cluster.leaderName(), cluster.timeline());
    return new Fault(planned.kind(), -1, what, start, System.currentTimeMillis());
  }

  @Override
  public void allowLogins(boolean allowed) {
    throw new UnsupportedOperationException("not for several nodes");
  }

  @Override
  public Map<UUID, Long> timelines() {
    return cluster.logged("on time line").stream()
        .map(TIMELINE::matcher)
        .filter(Matcher::find)
        .map(Matcher::toMatchResult)
        .collect(toMap(FailoverPostgres::effect, FailoverPostgres::timeline, Math::max));
  }

  private static UUID effect(MatchResult line) {
    return UUID.fromString(line.group(1));
  }

  private static long timeline(MatchResult line) {
    return Long.parseLong(line.group(2), 16);
  }

  @Override
  public boolean mayLose() {
    return setting.mayLose();
  }

  @Override
  public void close() {
    cluster.close();
  }
}
