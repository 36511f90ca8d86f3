package io.github.grpcidempotency.admin.console;

import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import io.github.grpcidempotency.admin.Administration;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.security.SecureRandom;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A web page for operators. It shows the operations that are in flight or stuck and the history of
 * a key, and frees or forgets an operation with a reason for the audit. It is plain HTML, without
 * scripts.
 *
 * <p>It runs on an HTTP server of its own, {@linkplain Builder#start started} on the loopback
 * address by default, or as a {@linkplain Builder#handler handler} on the host's server. The host's
 * {@link ConsoleAccess} decides who may use it.
 *
 * <p>Thread-safe.
 */
public final class Console implements AutoCloseable {
  private static final int MAX_THREADS = 64;
  private static final String LONGEST_REQUEST = "sun.net.httpserver.maxReqTime";

  private final HttpServer server;
  private final ExecutorService threads;

  private Console(HttpServer server, ExecutorService threads) {
    this.server = server;
    this.threads = threads;
  }

  /**
   * Returns a builder of a console.
   *
   * @param administration an administration as a role with the rights of an operator
   * @param access decides who may use the console
   */
  public static Builder builder(Administration administration, ConsoleAccess access) {
    return new Builder(administration, access);
  }

  /** Returns its address. */
  public URI uri() {
    InetSocketAddress address = server.getAddress();
    InetAddress ip = address.getAddress();
    String host =
        ip.isAnyLocalAddress() || ip.isLoopbackAddress() ? "localhost" : ip.getHostAddress();
    return URI.create(
        "http://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + address.getPort() + "/");
  }

  /** Stops the server immediately. */
  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }

  /** Settings of a console. */
  public static final class Builder {
    private static final int MIN_SECRET = 32;

    private final Administration administration;
    private final ConsoleAccess access;
    private final Set<String> names = new HashSet<>();
    private InetSocketAddress address =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), 7_070);
    private Optional<String> traceLink = Optional.empty();
    private byte[] secret = FormTokens.randomBytes(new SecureRandom(), MIN_SECRET);

    private Builder(Administration administration, ConsoleAccess access) {
      this.administration = administration;
      this.access = access;
    }

    /**
     * Sets the address to listen on. The default is port 7070 of the loopback address; port 0 is
     * any free port. The server uses plain HTTP: to make it reachable from other machines, put a
     * proxy with TLS in front, or mount the {@linkplain #handler handler} on an {@code
     * HttpsServer}.
     */
    public Builder address(InetSocketAddress address) {
      this.address = address;
      return this;
    }

    /**
     * Allows another name in the header {@code Host}, without a port. {@code localhost} and the
     * loopback addresses are always allowed. All other names are refused, so that another site
     * cannot reach the console by DNS rebinding.
     */
    public Builder hostName(String name) {
      names.add(name);
      return this;
    }

    /**
     * Sets the secret that signs forms; a random one by default. With the same secret, a server
     * accepts forms from another server.
     *
     * @throws IllegalArgumentException if it has fewer than 32 bytes
     */
    public Builder formSecret(byte[] secret) {
      if (secret.length < MIN_SECRET) {
        throw new IllegalArgumentException("a secret has at least " + MIN_SECRET + " bytes");
      }
      this.secret = secret.clone();
      return this;
    }

    /**
     * Links the trace of an operation to a tool that shows traces.
     *
     * @param address the address of a trace, with <code>{trace}</code> in the place of its id, such
     *     as <code>https://jaeger.internal/trace/{trace}</code>
     * @throws IllegalArgumentException if it is not an http or https address with <code>{trace}
     *     </code>
     */
    public Builder traceLink(String address) {
      if (!address.matches("https?://.*\\{trace}.*")) {
        throw new IllegalArgumentException(
            "the address of a trace begins with http:// or https:// and contains {trace}, unlike "
                + address);
      }
      this.traceLink = Optional.of(address);
      return this;
    }

    /**
     * Returns a handler for the host's own server, in a context of any path. It blocks on the
     * database, so the server needs an executor.
     */
    public HttpHandler handler() {
      return new ConsoleHandler(
          administration, access, new OwnNames(names), new FormTokens(secret), traceLink);
    }

    /**
     * Starts a server. It serves 64 requests at a time. If a request does not arrive within ten
     * seconds, the server ends it, unless the system property {@code sun.net.httpserver.maxReqTime}
     * has another value, or another server of the JDK's was started before.
     *
     * @throws IOException if it cannot listen on the address
     */
    public Console start() throws IOException {
      Object unused = System.getProperties().putIfAbsent(LONGEST_REQUEST, "10");
      HttpServer server = HttpServer.create(address, 0);
      AtomicInteger count = new AtomicInteger();
      ThreadPoolExecutor threads =
          new ThreadPoolExecutor(
              MAX_THREADS,
              MAX_THREADS,
              1,
              TimeUnit.MINUTES,
              new LinkedBlockingQueue<>(),
              task -> {
                Thread thread = new Thread(task, "idempotency-console-" + count.incrementAndGet());
                thread.setDaemon(true);
                return thread;
              });
      threads.allowCoreThreadTimeOut(true);
      server.setExecutor(threads);
      server.createContext("/", handler());
      server.start();
      return new Console(server, threads);
    }
  }
}
