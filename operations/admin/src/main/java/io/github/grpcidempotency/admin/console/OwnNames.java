package io.github.grpcidempotency.admin.console;

import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The names that browsers may call this server by. */
final class OwnNames {
  private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

  private final Set<String> names = new HashSet<>(LOOPBACK);

  OwnNames(Set<String> more) {
    more.forEach(name -> names.add(name.toLowerCase(Locale.ROOT)));
  }

  /** Returns whether a request was sent to this server, whatever the port. */
  boolean isOurs(@Nullable String host) {
    return host != null
        && names.contains(host.replaceFirst(":[0-9]+$", "").toLowerCase(Locale.ROOT));
  }
}
