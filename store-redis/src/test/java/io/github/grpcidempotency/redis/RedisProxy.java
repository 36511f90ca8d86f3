package io.github.grpcidempotency.redis;

import io.lettuce.core.RedisURI;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;

/**
 * A TCP proxy in front of Redis that breaks a connection at an exact moment: before a script
 * reaches the server, or after the server has run it and before the client gets the answer.
 */
final class RedisProxy implements AutoCloseable {
  private enum Moment {
    BEFORE,
    AFTER
  }

  /** What waits in front of the server until it is let through. */
  private volatile CountDownLatch gate = new CountDownLatch(0);

  private volatile boolean passed;

  private record Trap(
      String text, Moment moment, Duration delay, boolean cuts, boolean staysDown) {}

  private final int port;
  private final ServerSocket acceptor;
  private final Set<Link> links = ConcurrentHashMap.newKeySet();
  private volatile Optional<Trap> trap = Optional.empty();
  private final Queue<Trap> later = new ConcurrentLinkedQueue<>();
  private volatile boolean sprung;
  private volatile boolean refuses;

  RedisProxy(RedisProcess target) {
    this.port = target.port();
    try {
      this.acceptor = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    inBackground(this::acceptAll);
  }

  RedisURI uri() {
    return RedisProcess.uri(acceptor.getLocalPort());
  }

  /** Cuts the connection that next sends a script; the server never sees it. */
  void cutBefore(Script script) {
    set(new Trap(textOf(script), Moment.BEFORE, Duration.ZERO, true, false));
  }

  /** Cuts the connection once the server has run a script; the answer is lost. */
  void cutAfter(Script script) {
    set(new Trap(textOf(script), Moment.AFTER, Duration.ZERO, true, false));
  }

  /** The same, a while later. */
  void cutAfter(Script script, Duration delay) {
    set(new Trap(textOf(script), Moment.AFTER, delay, true, false));
  }

  /** The same, and then nobody can connect. */
  void cutAfterAndStayDown(Script script) {
    set(new Trap(textOf(script), Moment.AFTER, Duration.ZERO, true, true));
  }

  /** Lets the answer to the next run of a script through, and then nobody can connect. */
  void stayDownAfter(Script script) {
    set(new Trap(textOf(script), Moment.AFTER, Duration.ZERO, false, true));
  }

  /** Delays the answer to the next run of a script. */
  void holdAfter(Script script, Duration delay) {
    set(new Trap(textOf(script), Moment.AFTER, delay, false, false));
  }

  /** Keeps the next run of a script from the server until it is let through. */
  void holdBefore(Script script) {
    gate = new CountDownLatch(1);
    passed = false;
    set(new Trap(textOf(script), Moment.BEFORE, Duration.ZERO, false, false));
  }

  /** Lets through what was held, and waits until the server has answered it. */
  void letThrough() {
    gate.countDown();
    Awaitility.await().until(() -> passed);
  }

  boolean hasSprung() {
    return sprung;
  }

  /** Cuts every connection, and accepts no new one. */
  void refuse() {
    refuseNew();
    links.forEach(Link::close);
  }

  private void refuseNew() {
    refuses = true;
    try {
      acceptor.close();
    } catch (IOException ignored) {
      // It is closed for us.
    }
  }

  /** One trap follows the other. */
  private void set(Trap next) {
    sprung = false;
    if (trap.isPresent()) {
      later.add(next);
    } else {
      trap = Optional.of(next);
    }
  }

  /** Servers know a script by its digest, once they have run it. */
  private static String textOf(Script script) {
    return script.digest();
  }

  @Override
  public void close() {
    refuse();
  }

  private void acceptAll() {
    try {
      while (true) {
        Socket client = acceptor.accept();
        if (refuses) {
          client.close();
        } else {
          links.add(new Link(client, new Socket(InetAddress.getLoopbackAddress(), port)));
        }
      }
    } catch (IOException closed) {
      // by its owner
    }
  }

  private static void inBackground(Runnable task) {
    Thread thread = new Thread(task, "redis-proxy");
    thread.setDaemon(true);
    thread.start();
  }

  private final class Link implements Closeable {
    private final Socket client;
    private final Socket server;
    private volatile boolean held;
    private final CountDownLatch answered = new CountDownLatch(1);
    private volatile Optional<Trap> answer = Optional.empty();

    Link(Socket client, Socket server) {
      this.client = client;
      this.server = server;
      inBackground(this::forward);
      inBackground(this::answer);
    }

    private void forward() {
      try (InputStream from = client.getInputStream();
          OutputStream to = server.getOutputStream()) {
        byte[] buffer = new byte[1 << 16];
        for (int read = from.read(buffer); read > 0; read = from.read(buffer)) {
          String chunk = new String(buffer, 0, read, StandardCharsets.ISO_8859_1);
          Optional<Trap> met = trap.filter(set -> chunk.contains(set.text()));
          if (met.isPresent()) {
            trap = Optional.ofNullable(later.poll());
            if (met.get().moment() == Moment.BEFORE) {
              spring(met.get());
              if (met.get().cuts()) {
                return;
              }
              gate.await();
              held = true;
            } else {
              answer = met;
            }
          }
          to.write(buffer, 0, read);
          to.flush();
          if (held) {
            answered.await();
            passed = true;
          }
        }
      } catch (IOException | InterruptedException cut) {
        close();
      }
    }

    private void answer() {
      try (InputStream from = server.getInputStream();
          OutputStream to = client.getOutputStream()) {
        byte[] buffer = new byte[1 << 16];
        for (int read = from.read(buffer); read > 0; read = from.read(buffer)) {
          if (held) {
            answered.countDown();
          }
          if (answer.isPresent()) {
            Trap met = answer.get();
            answer = Optional.empty();
            spring(met);
          }
          to.write(buffer, 0, read);
          to.flush();
        }
      } catch (IOException cut) {
        close();
      }
    }

    private void spring(Trap met) {
      sprung = true;
      LockSupport.parkNanos(met.delay().toNanos());
      if (met.staysDown()) {
        refuseNew();
      }
      if (met.cuts()) {
        close();
      }
    }

    @Override
    public void close() {
      links.remove(this);
      try {
        client.close();
        server.close();
      } catch (IOException ignored) {
        // It is closed for us.
      }
    }
  }
}
