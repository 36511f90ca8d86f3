package io.github.grpcidempotency.admin.console;

import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The host names by which browsers may use this server. */
final class OwnNames {
  private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

  private final Set<String> names = new HashSet<>(LOOPBACK);

  OwnNames(Set<String> more) {
    more.forEach(name -> names.add(name.toLowerCase(Locale.ROOT)));
  }

  /** Returns whether the header {@code Host} has an allowed name; ignores the port. */
  boolean isOurs(@Nullable String host) {
    return host != null
        && names.contains(host.replaceFirst(":[0-9]+$", "").toLowerCase(Locale.ROOT));
  }
}
