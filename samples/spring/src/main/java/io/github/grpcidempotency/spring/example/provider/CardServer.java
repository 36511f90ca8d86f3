package io.github.grpcidempotency.spring.example.provider;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A card company on this machine. It acts once for each {@code Idempotency-Key}. For the first
 * request only, it charges the card {@code lost} and drops the connection.
 */
public final class CardServer implements AutoCloseable {
  /** The action for a key. */
  private record Act(String path, String what, String name) {}

  private final Map<String, Act> acts = new ConcurrentHashMap<>();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final HttpServer server;

  private CardServer(HttpServer server) {
    this.server = server;
  }

  /** Starts the card company on a free port. */
  public static CardServer start() {
    try {
      HttpServer server =
          HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      CardServer started = new CardServer(server);
      server.setExecutor(started.threads);
      server.createContext("/", started::handle);
      server.start();
      return started;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Returns its address. */
  public URI uri() {
    return URI.create("http://localhost:" + server.getAddress().getPort());
  }

  /** Returns the ids of all charges of a card. */
  public List<String> charges(String card) {
    return acts.values().stream()
        .filter(act -> act.path().equals("/charges") && act.what().startsWith(card + " "))
        .map(Act::name)
        .toList();
  }

  /** Returns how many receipts it has printed for an order. */
  public long receipts(String order) {
    return acts.values().stream()
        .filter(act -> act.path().equals("/receipts") && act.what().equals(order))
        .count();
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      String key = exchange.getRequestHeaders().getFirst("Idempotency-Key");
      String what = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
      Act act = new Act(exchange.getRequestURI().getPath(), what, UUID.randomUUID().toString());
      Act earlier = acts.putIfAbsent(key, act);
      if (earlier == null && what.startsWith("lost ")) {
        return; // closes the connection
      }
      byte[] answer = (earlier == null ? act : earlier).name().getBytes(UTF_8);
      exchange.sendResponseHeaders(200, answer.length);
      exchange.getResponseBody().write(answer);
    }
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
