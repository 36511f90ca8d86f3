package io.github.grpcidempotency.postgres.internal.database;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.github.grpcidempotency.background.DaemonThreads;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.store.FailureCause;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.SocketChannel;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jdbi.v3.core.JdbiException;
import org.jspecify.annotations.Nullable;
import org.postgresql.Driver;
import org.postgresql.PGProperty;
import org.postgresql.ds.common.BaseDataSource;

/**
 * The proof that the whole database is out of reach. A failure to connect is no proof: with several
 * hosts, the driver throws the failure of the last host only, and a pool may throw an old failure.
 * So after such a failure, each address of each host is asked for a TCP connection:
 *
 * <ul>
 *   <li>It is an outage if every address refuses the connection.
 *   <li>It is no outage if any address accepts the connection, whatever the host then does with it.
 *   <li>An address that does not answer, a host without a route and a name that is unknown here may
 *       be those of a host that serves other servers. It is an outage only if the URL has one host
 *       with one address: the driver has waited for it, too.
 *   <li>It is no outage if the hosts are not known: the pool is neither a HikariCP pool nor one of
 *       the driver's own data sources, or it uses a {@code socketFactory}.
 * </ul>
 *
 * <p>Calls that fail within {@link #FRESH} share an answer, so an outage does not multiply the
 * connections.
 */
final class Outage {
  private static final Duration FRESH = Duration.ofSeconds(1);

  /** How long an address may take to accept a connection. */
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  /** How long all hosts may take, with the look-up of their names. */
  private static final Duration LONGEST = Duration.ofSeconds(3);

  private final DataSource pool;

  @GuardedBy("this")
  private Optional<Proof> latest = Optional.empty();

  private record Proof(boolean proven, long nanos) {
    boolean isFresh() {
      return System.nanoTime() - nanos < FRESH.toNanos();
    }
  }

  private record Host(String name, int port) {}

  private enum Answer {
    ACCEPTED,
    REFUSED,
    SILENT,
    /** This computer cannot use the address, for example because it has no IPv6. */
    UNUSABLE
  }

  /** Creates the proof of an outage of the database of a pool. */
  Outage(DataSource pool) {
    this.pool = pool;
  }

  /** Returns the cause of a failure. Asks the hosts if the failure may be that of an outage. */
  FailureCause causeOf(JdbiException failure) {
    return Failures.mayBeOutage(failure) && isProven()
        ? FailureCause.NO_CONNECTION
        : Failures.causeOf(failure);
  }

  private synchronized boolean isProven() {
    if (latest.filter(Proof::isFresh).isEmpty()) {
      boolean proven = nobodyAccepts(hosts(pool));
      latest = Optional.of(new Proof(proven, System.nanoTime()));
    }
    return latest.filter(Proof::proven).isPresent();
  }

  private static boolean nobodyAccepts(List<Host> hosts) {
    List<Callable<List<Answer>>> questions = new ArrayList<>();
    hosts.forEach(host -> questions.add(() -> ask(host)));
    List<Answer> answers = new ArrayList<>();
    try {
      for (Future<List<Answer>> host :
          DaemonThreads.pool().invokeAll(questions, LONGEST.toMillis(), TimeUnit.MILLISECONDS)) {
        answers.addAll(host.get());
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return false;
    } catch (CancellationException | ExecutionException unanswered) {
      return false;
    }
    answers.removeIf(Answer.UNUSABLE::equals);
    return answers.equals(List.of(Answer.SILENT))
        || (!answers.isEmpty() && answers.stream().allMatch(Answer.REFUSED::equals));
  }

  /** Returns the answer of each address. */
  private static List<Answer> ask(Host host) throws IOException {
    List<Answer> answers = new ArrayList<>();
    InetAddress[] addresses;
    try {
      addresses = InetAddress.getAllByName(host.name());
    } catch (UnknownHostException nowhere) {
      return List.of(Answer.SILENT);
    }
    for (InetAddress address : addresses) {
      answers.add(ask(new InetSocketAddress(address, host.port())));
    }
    return answers;
  }

  /**
   * Asks one address.
   *
   * @throws IOException if this process can open no more files, which says nothing about the host
   */
  private static Answer ask(InetSocketAddress address) throws IOException {
    SocketChannel channel = SocketChannel.open();
    try (channel) {
      channel.socket().connect(address, Math.toIntExact(PATIENCE.toMillis()));
      return Answer.ACCEPTED;
    } catch (ConnectException refused) {
      return Answer.REFUSED;
    } catch (NoRouteToHostException | SocketTimeoutException silent) {
      return Answer.SILENT;
    } catch (SocketException unusable) {
      return Answer.UNUSABLE;
    }
  }

  /** Returns the hosts of the pool's URL; none if they are not known. */
  private static List<Host> hosts(DataSource pool) {
    Properties url = url(pool).orElseGet(Properties::new);
    if (PGProperty.PG_HOST.getOrNull(url) == null || PGProperty.SOCKET_FACTORY.isPresent(url)) {
      return List.of();
    }
    String[] names = PGProperty.PG_HOST.getOrNull(url).split(",", -1);
    String[] ports = PGProperty.PG_PORT.getOrNull(url).split(",", -1);
    List<Host> hosts = new ArrayList<>();
    for (int i = 0; i < names.length; i++) {
      hosts.add(new Host(names[i], Integer.parseInt(ports[i])));
    }
    return hosts;
  }

  private static Optional<Properties> url(DataSource pool) {
    try {
      return pool.isWrapperFor(BaseDataSource.class)
          ? parse(pool.unwrap(BaseDataSource.class).getUrl(), new Properties())
          : HikariPools.urlOf(pool);
    } catch (SQLException unknown) {
      return Optional.empty();
    }
  }

  /** Returns the properties of a URL of the driver; empty for the URL of another driver. */
  static Optional<Properties> parse(@Nullable String url, Properties defaults) {
    return Optional.ofNullable(url).map(known -> Driver.parseURL(known, defaults));
  }
}
