package io.github.grpcidempotency.example.demo;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * A network that loses answers on demand: requests arrive, but answers do not, until the connection
 * is cut.
 */
final class LossyProxy implements Closeable {
  private final int serverPort;
  private final ServerSocket listener;
  private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();
  private volatile boolean losingAnswers;

  private LossyProxy(int serverPort) throws IOException {
    this.serverPort = serverPort;
    this.listener = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
  }

  /** Starts a network in front of a server on this machine. */
  static LossyProxy inFrontOf(int serverPort) {
    try {
      LossyProxy proxy = new LossyProxy(serverPort);
      inBackground(proxy::acceptUntilClosed);
      return proxy;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  int port() {
    return listener.getLocalPort();
  }

  void loseAnswers() {
    losingAnswers = true;
  }

  /** Cuts every connection; new ones are whole again. */
  void cut() {
    closeConnections();
    losingAnswers = false;
  }

  @Override
  public void close() throws IOException {
    listener.close();
    closeConnections();
  }

  private void acceptUntilClosed() {
    while (!listener.isClosed()) {
      try {
        connect(listener.accept());
      } catch (IOException e) {
        // the listener is closed, or the server is gone: the client finds out
      }
    }
  }

  private void connect(Socket client) throws IOException {
    Socket server = new Socket(InetAddress.getLoopbackAddress(), serverPort);
    sockets.add(client);
    sockets.add(server);
    inBackground(() -> pump(client, server, false));
    inBackground(() -> pump(server, client, true));
  }

  private void pump(Socket from, Socket to, boolean answers) {
    byte[] buffer = new byte[8192];
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        if (!(answers && losingAnswers)) {
          out.write(buffer, 0, read);
        }
      }
    } catch (IOException e) {
      // one side is gone, and both are closed now
    }
  }

  private void closeConnections() {
    for (Socket socket = sockets.poll(); socket != null; socket = sockets.poll()) {
      try {
        socket.close();
      } catch (IOException e) {
        // closed is closed
      }
    }
  }

  private static void inBackground(Runnable work) {
    Thread thread = new Thread(work, "lossy-proxy");
    thread.setDaemon(true);
    thread.start();
  }
}
