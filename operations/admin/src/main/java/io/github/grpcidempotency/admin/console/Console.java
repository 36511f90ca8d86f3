package io.github.grpcidempotency.admin.console;

import com.sun.net.httpserver.HttpServer;
import io.github.grpcidempotency.admin.Administration;
import io.github.grpcidempotency.background.DaemonThreads;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A web page for the operator at this computer. It shows the operations that are in flight or stuck
 * and the history of a key, and frees or forgets an operation with a reason for the audit. It is
 * plain HTML, without scripts.
 *
 * <p>It runs on an HTTP server of its own, on the loopback address, and accepts one user with a
 * generated password, by HTTP Basic authentication.
 *
 * <p>Thread-safe.
 */
public final class Console implements AutoCloseable {
  private static final int SECRET_BYTES = 18;

  private final HttpServer server;
  private final ExecutorService threads;
  private final String password;

  private Console(HttpServer server, ExecutorService threads, String password) {
    this.server = server;
    this.threads = threads;
    this.password = password;
  }

  /**
   * Starts a console.
   *
   * @param administration an administration as a role with the rights of an operator
   * @param actor the user's name, which the audit keeps
   * @param port the port to listen on; 0 for any free port
   * @param showsKeys whether the page of an operation shows the client's key
   * @param traceLink the address of a trace in a tool that shows traces, with <code>{trace}</code>
   *     in the place of its id, such as <code>https://jaeger.internal/trace/{trace}</code>
   * @throws IOException if it cannot listen on the port
   * @throws IllegalArgumentException if the actor's name has a colon, or the address of a trace is
   *     not an http or https address with <code>{trace}</code>
   */
  public static Console start(
      Administration administration,
      String actor,
      int port,
      boolean showsKeys,
      Optional<String> traceLink)
      throws IOException {
    if (actor.contains(":")) {
      throw new IllegalArgumentException("the name of a user must not have a colon: " + actor);
    }
    if (traceLink.filter(link -> !link.matches("https?://.*\\{trace}.*")).isPresent()) {
      throw new IllegalArgumentException(
          "the address of a trace begins with http:// or https:// and contains {trace}, unlike "
              + traceLink.get());
    }
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    // The server reads a request on one of these threads, for as long as its client takes to send
    // it.
    ExecutorService threads =
        Executors.newCachedThreadPool(DaemonThreads.named("idempotency-console"));
    server.setExecutor(threads);
    String password = newSecret();
    server.createContext(
        "/",
        new ConsoleHandler(
            administration, new Visit.Session(actor, newSecret(), showsKeys, traceLink), password));
    server.start();
    return new Console(server, threads, password);
  }

  /** Returns its address. */
  public URI uri() {
    return URI.create("http://localhost:" + server.getAddress().getPort() + "/");
  }

  /** Returns the user's password. */
  public String password() {
    return password;
  }

  /** Stops the server immediately. */
  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }

  private static String newSecret() {
    byte[] random = new byte[SECRET_BYTES];
    new SecureRandom().nextBytes(random);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(random);
  }
}
