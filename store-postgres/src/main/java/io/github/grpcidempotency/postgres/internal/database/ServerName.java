package io.github.grpcidempotency.postgres.internal.database;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Optional;
import java.util.regex.Pattern;

/** The name under which a process holds its reservations. Operators see the name. */
public final class ServerName {
  private static final int MAX_HOST = 240;
  private static final Pattern VISIBLE = Pattern.compile("[\\p{L}\\p{N}\\p{P}\\p{S}]+");

  private ServerName() {}

  /** Returns this process's host and process id, such as {@code things-7d9f:1}. */
  public static String ofThisProcess() {
    String host =
        Optional.ofNullable(System.getenv("HOSTNAME"))
            .filter(name -> VISIBLE.matcher(name).matches())
            .orElseGet(ServerName::localHost);
    return host.substring(0, Math.min(host.length(), MAX_HOST))
        + ":"
        + ProcessHandle.current().pid();
  }

  private static String localHost() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException nameless) {
      return "localhost";
    }
  }
}
