package io.github.grpcidempotency.benchmarks.database;

import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import javax.net.SocketFactory;

/** Makes the driver's sockets, and so sees every round trip. The driver finds it by its name. */
public final class MeteredSocketFactory extends SocketFactory {
  private final Duration delay;

  /** Makes sockets whose round trips take so much longer, as {@link Duration#parse} reads it. */
  public MeteredSocketFactory(String delay) {
    this.delay = Duration.parse(delay);
  }

  @Override
  public Socket createSocket() {
    return new MeteredSocket(delay);
  }

  @Override
  public Socket createSocket(String host, int port) {
    throw connectedElsewhere();
  }

  @Override
  public Socket createSocket(String host, int port, InetAddress localHost, int localPort) {
    throw connectedElsewhere();
  }

  @Override
  public Socket createSocket(InetAddress host, int port) {
    throw connectedElsewhere();
  }

  @Override
  public Socket createSocket(InetAddress address, int port, InetAddress local, int localPort) {
    throw connectedElsewhere();
  }

  private static UnsupportedOperationException connectedElsewhere() {
    return new UnsupportedOperationException("the driver connects the sockets that it gets");
  }
}
