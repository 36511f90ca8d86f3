package io.github.grpcidempotency.client;

import java.io.Closeable;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Refuses the first call that comes through it, as a server does that is shutting down: with an
 * HTTP/2 GOAWAY that says that no stream was processed. Then it passes everything on.
 */
final class RefusingProxy implements Closeable {
  private static final int PREFACE = 24;
  private static final int HEADERS = 1;
  private static final byte[] SETTINGS = {0, 0, 0, 4, 0, 0, 0, 0, 0};

  /** Eight bytes of content: the last stream that was processed, none; and no error. */
  private static final byte[] GOAWAY = {0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

  private final ServerSocket listening;
  private final int server;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();

  RefusingProxy(int server) throws IOException {
    this.listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    this.server = server;
    inBackground(this::serve);
  }

  int port() {
    return listening.getLocalPort();
  }

  @Override
  public void close() throws IOException {
    listening.close();
    for (Socket socket : sockets) {
      socket.close();
    }
  }

  private void serve() throws IOException {
    try (Socket first = accept()) {
      refuse(first);
    }
    while (true) {
      Socket client = accept();
      Socket target = new Socket(InetAddress.getLoopbackAddress(), server);
      sockets.add(target);
      inBackground(() -> pass(client, target));
      inBackground(() -> pass(target, client));
    }
  }

  private static void refuse(Socket client) throws IOException {
    OutputStream out = client.getOutputStream();
    out.write(SETTINGS);
    out.flush();
    DataInputStream in = new DataInputStream(client.getInputStream());
    in.skipNBytes(PREFACE);
    int type;
    do {
      int length = (in.readUnsignedByte() << 16) | in.readUnsignedShort();
      type = in.readUnsignedByte();
      in.skipNBytes(5 + length);
    } while (type != HEADERS);
    out.write(GOAWAY);
    out.flush();
    client.shutdownOutput();
    in.transferTo(OutputStream.nullOutputStream());
  }

  private static void pass(Socket from, Socket to) throws IOException {
    InputStream in = from.getInputStream();
    OutputStream out = to.getOutputStream();
    byte[] bytes = new byte[8_192];
    for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
      out.write(bytes, 0, read);
      out.flush();
    }
    to.shutdownOutput();
  }

  private Socket accept() throws IOException {
    Socket socket = listening.accept();
    sockets.add(socket);
    return socket;
  }

  private static void inBackground(Work work) {
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (IOException closed) {
                // with the test
              }
            },
            "proxy");
    thread.setDaemon(true);
    thread.start();
  }

  private interface Work {
    void run() throws IOException;
  }
}
