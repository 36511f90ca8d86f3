package io.github.grpcidempotency.fault;

import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.fault.FlushReader.Sent;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * A TCP proxy that breaks connections at an exact moment: before a request reaches the server, or
 * after the server has executed it and before the client gets the answer. In front of PostgreSQL,
 * it finds requests by their SQL, and also counts round trips. In front of any other server, it
 * finds requests by a text within bytes that arrive together.
 *
 * <p>Clients connect without encryption. Thread-safe.
 */
public final class FaultProxy implements AutoCloseable {
  private enum Mode {
    FORWARD,
    REFUSE,
    SWALLOW
  }

  private enum Moment {
    BEFORE,
    AFTER
  }

  /** What a pool sends to check that an idle connection still works. */
  private static final String NOTHING = ";\n";

  private static final long NEVER = 0;
  private static final int READY = 'Z';
  private static final int NOTIFICATION = 'A';
  private static final int CHUNK = 1 << 16;

  private final URI target;
  private final InetSocketAddress address;
  private final Set<Link> links = ConcurrentHashMap.newKeySet();
  private final List<Trap> traps = new CopyOnWriteArrayList<>();
  private final List<String> roundTrips = new CopyOnWriteArrayList<>();
  private ServerSocket acceptor;
  private volatile Mode mode = Mode.FORWARD;
  private volatile boolean swallowsNotifications;
  private volatile Duration slowness = Duration.ZERO;

  private FaultProxy(URI target) {
    this.target = target;
    try {
      this.acceptor = listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    this.address = new InetSocketAddress(acceptor.getInetAddress(), acceptor.getLocalPort());
  }

  private ServerSocket listen(InetSocketAddress address) throws IOException {
    ServerSocket listening = new ServerSocket(address.getPort(), 100, address.getAddress());
    inBackground("fault-proxy", () -> acceptAll(listening));
    return listening;
  }

  /** Starts a proxy in front of the server of a JDBC URL. */
  public static FaultProxy before(String jdbcUrl) {
    return new FaultProxy(URI.create(jdbcUrl.substring("jdbc:".length())));
  }

  /** Starts a proxy in front of another server on this machine that is not PostgreSQL. */
  public static FaultProxy before(int port) {
    return new FaultProxy(URI.create("tcp://127.0.0.1:" + port));
  }

  private boolean speaksPostgres() {
    return target.getScheme().equals("postgresql");
  }

  /** Returns the port on the loopback interface that this proxy listens on. */
  public int port() {
    return address.getPort();
  }

  /** Returns the JDBC URL of the same database, through this proxy. */
  public String jdbcUrl() {
    return "jdbc:postgresql://%s:%d%s?%s"
        .formatted(
            address.getAddress().getHostAddress(),
            address.getPort(),
            target.getPath(),
            target.getQuery());
  }

  /** Cuts the connection that first sends SQL with this text; the database never sees it. */
  public Trap cutBefore(String sql) {
    return set(new Trap(sql, Moment.BEFORE, Duration.ZERO).andCut());
  }

  /** Cuts the connection once the database has executed the statement; the answer is lost. */
  public Trap cutAfter(String sql) {
    return set(new Trap(sql, Moment.AFTER, Duration.ZERO).andCut());
  }

  /**
   * Delays the flush that first sends SQL with this text, so that the database sees it late, or
   * never if the trap {@linkplain Trap#andCut cuts}.
   */
  public Trap holdBefore(String sql, Duration length) {
    return set(new Trap(sql, Moment.BEFORE, length));
  }

  /** Holds the request that first has this text back until it is released. */
  public Trap holdBefore(String text) {
    Trap trap = new Trap(text, Moment.BEFORE, Duration.ZERO);
    trap.gate = new CountDownLatch(1);
    trap.answered = new CountDownLatch(1);
    return set(trap);
  }

  /** Delays the database's answer to the flush that first sends SQL with this text. */
  public Trap holdAfter(String sql, Duration length) {
    return set(new Trap(sql, Moment.AFTER, length));
  }

  /** Drops all notifications from now on, as poolers do. */
  public FaultProxy swallowNotifications() {
    swallowsNotifications = true;
    return this;
  }

  /** Cuts every connection, and refuses new ones until {@link #restore}. */
  public void refuse() {
    refuseNew();
    cutAll();
  }

  /** Keeps every connection, and refuses new ones until {@link #restore}. */
  public synchronized void refuseNew() {
    mode = Mode.REFUSE;
    closeQuietly(acceptor);
  }

  /** Keeps connections open, but forwards nothing more, until {@link #restore}. */
  public void swallow() {
    mode = Mode.SWALLOW;
  }

  /** Forwards everything that clients send as much later, until {@link #restore}. */
  public void slow(Duration delay) {
    slowness = delay;
  }

  /** Forwards again, at once. Connections that have lost data are cut. */
  public synchronized void restore() {
    slowness = Duration.ZERO;
    if (mode == Mode.SWALLOW) {
      cutAll();
    }
    mode = Mode.FORWARD;
    if (acceptor.isClosed()) {
      try {
        acceptor = listen(address);
      } catch (IOException taken) {
        throw new UncheckedIOException(taken);
      }
    }
  }

  /** Cuts every open connection. */
  public void cutAll() {
    links.forEach(Link::cut);
  }

  /** Drops the cuts that have not happened yet. */
  public void disarm() {
    traps.clear();
  }

  /** Returns the SQL of each round trip so far, without a pool's tests of its connections. */
  public List<String> roundTrips() {
    return List.copyOf(roundTrips);
  }

  /** Forgets the round trips so far. */
  public void forgetRoundTrips() {
    roundTrips.clear();
  }

  @Override
  public void close() {
    refuse();
  }

  private Trap set(Trap trap) {
    traps.add(trap);
    return trap;
  }

  private void acceptAll(ServerSocket listening) throws IOException {
    while (true) {
      Socket client = listening.accept();
      if (mode == Mode.REFUSE) {
        client.close();
      } else {
        new Link(client).start();
      }
    }
  }

  private boolean springs(Trap trap, String sql) {
    return sql.contains(trap.sql) && traps.remove(trap);
  }

  private static void inBackground(String name, IoTask task) {
    Thread thread =
        new Thread(
            () -> {
              try {
                task.run();
              } catch (IOException | InterruptedException closed) {
                // Part of every connection.
              }
            },
            name);
    thread.setDaemon(true);
    thread.start();
  }

  private static void pause(Duration length) {
    long end = System.nanoTime() + length.toNanos();
    for (long left = length.toNanos(); left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  private static void closeQuietly(Closeable socket) {
    try {
      socket.close();
    } catch (IOException alreadyBroken) {
      // as intended
    }
  }

  private interface IoTask {
    void run() throws IOException, InterruptedException;
  }

  private interface Source<T> {
    T next() throws IOException;
  }

  /** Data that the server sends together; its type marks the end of an answer. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Answer(int type, byte[] bytes) {}

  private static Answer messageOf(DataInputStream server) throws IOException {
    int type = server.readUnsignedByte();
    int length = server.readInt();
    ByteBuffer message = ByteBuffer.allocate(1 + length).put((byte) type).putInt(length);
    server.readFully(message.array(), message.position(), message.remaining());
    return new Answer(type, message.array());
  }

  private static Sent requestOf(InputStream client) throws IOException {
    byte[] chunk = chunkOf(client);
    String text = FlushReader.unquoted(new String(chunk, StandardCharsets.ISO_8859_1));
    return new Sent(ByteString.copyFrom(chunk), text, false, 1);
  }

  private static byte[] chunkOf(InputStream from) throws IOException {
    byte[] buffer = new byte[CHUNK];
    int read = from.read(buffer);
    if (read < 0) {
      throw new EOFException();
    }
    return Arrays.copyOf(buffer, read);
  }

  /** A cut or a delay that happens once. */
  public final class Trap {
    private final String sql;
    private final Moment moment;
    private final Duration delay;
    private volatile long sprungAt = NEVER;
    private volatile CountDownLatch gate = new CountDownLatch(0);
    private volatile CountDownLatch answered = new CountDownLatch(0);
    private volatile boolean cuts;
    private volatile boolean stayDown;

    private Trap(String sql, Moment moment, Duration delay) {
      this.sql = sql;
      this.moment = moment;
      this.delay = delay;
    }

    /** Cuts the connection when the delay is over. */
    public Trap andCut() {
      cuts = true;
      return this;
    }

    /** Releases the held request, and waits until the server has answered it. */
    public void letThrough() {
      gate.countDown();
      await().until(() -> answered.getCount() == 0);
    }

    /** Refuses all connections afterwards, until {@link #restore}; a cut closes all connections. */
    public Trap andStayDown() {
      stayDown = true;
      return this;
    }

    /** Returns whether it has happened. */
    public boolean hasSprung() {
      return sprungAt != NEVER;
    }

    /** Returns when it happened, in milliseconds since the epoch; empty if it has not. */
    public OptionalLong sprung() {
      return hasSprung() ? OptionalLong.of(sprungAt) : OptionalLong.empty();
    }

    /** Waits, and then cuts if the trap is configured so; returns whether it cut. */
    private boolean spring(Link link) throws InterruptedException {
      if (stayDown) {
        refuseNew();
      }
      sprungAt = System.currentTimeMillis();
      pause(delay);
      gate.await();
      if (cuts) {
        link.cut();
      }
      if (cuts && stayDown) {
        cutAll();
      }
      return cuts;
    }
  }

  /** One client's connection, and the proxy's connection to the database. */
  private final class Link {
    private final Socket client;
    private final Socket database = new Socket();
    private volatile Optional<Trap> atAnswer = Optional.empty();
    private volatile Optional<Trap> released = Optional.empty();
    private volatile int answersUntilTrap;

    Link(Socket client) {
      this.client = client;
    }

    void start() throws IOException {
      links.add(this);
      try {
        client.setTcpNoDelay(true);
        database.setTcpNoDelay(true);
        database.connect(new InetSocketAddress(target.getHost(), target.getPort()));
      } catch (IOException unreachable) {
        cut();
        return;
      }
      inBackground("fault-proxy-flushes", () -> untilCut(this::forwardFlushes));
      inBackground("fault-proxy-answers", () -> untilCut(this::forwardAnswers));
    }

    private boolean isLastAnswer() {
      int left = answersUntilTrap - 1;
      answersUntilTrap = left;
      return left == 0;
    }

    void cut() {
      if (links.remove(this)) {
        // A trap without an answer waits for another connection.
        atAnswer.filter(trap -> !trap.hasSprung()).ifPresent(traps::add);
      }
      closeQuietly(client);
      closeQuietly(database);
    }

    private void untilCut(IoTask forwarding) throws IOException, InterruptedException {
      try {
        forwarding.run();
      } finally {
        cut();
      }
    }

    private void forwardFlushes() throws IOException, InterruptedException {
      InputStream fromClient = client.getInputStream();
      Source<Sent> flushes =
          speaksPostgres()
              ? new FlushReader(fromClient, client.getOutputStream())::next
              : () -> requestOf(fromClient);
      OutputStream toDatabase = database.getOutputStream();
      while (true) {
        Sent sent = flushes.next();
        if (sent.roundTrip() && !sent.sql().equals(NOTHING)) {
          roundTrips.add(sent.sql());
        }
        for (Trap trap : traps) {
          if (springs(trap, sent.sql())) {
            if (trap.moment == Moment.BEFORE) {
              if (trap.spring(this)) {
                return;
              }
              released = Optional.of(trap);
              break;
            }
            answersUntilTrap = sent.answers();
            atAnswer = Optional.of(trap);
            break; // another trap waits for another flush
          }
        }
        pause(slowness);
        if (mode != Mode.SWALLOW) {
          sent.bytes().writeTo(toDatabase);
          toDatabase.flush();
        }
        if (released.isPresent()) {
          released.get().answered.await(); // even if the client has gone
        }
      }
    }

    private void forwardAnswers() throws IOException, InterruptedException {
      DataInputStream fromDatabase = new DataInputStream(database.getInputStream());
      Source<Answer> answers =
          speaksPostgres()
              ? () -> messageOf(fromDatabase)
              : () -> new Answer(READY, chunkOf(fromDatabase));
      OutputStream toClient = client.getOutputStream();
      while (true) {
        Answer answer = answers.next();
        released.ifPresent(trap -> trap.answered.countDown());
        Optional<Trap> trap = atAnswer;
        if (trap.isPresent() && trap.get().cuts) {
          if (answer.type() == READY && isLastAnswer()) {
            trap.get().spring(this);
            return;
          }
          continue; // the client must not get the answer
        }
        if (trap.isPresent()) {
          atAnswer = Optional.empty();
          trap.get().spring(this);
        }
        if (mode != Mode.SWALLOW && !(swallowsNotifications && answer.type() == NOTIFICATION)) {
          // In one piece, because PgBouncer reads part of a message as a failed login.
          toClient.write(answer.bytes());
          toClient.flush();
        }
      }
    }
  }
}
