package io.github.grpcidempotency.benchmarks.database;

import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import javax.net.SocketFactory;

/**
 * Creates the driver's sockets, so that every round trip is counted. The driver finds the class by
 * its name.
 */
public final class MeteredSocketFactory extends SocketFactory {
  private final Duration delay;

  /** Creates sockets with a delay for each round trip, in the format of {@link Duration#parse}. */
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
    return new UnsupportedOperationException("the driver connects its sockets itself");
  }
}
