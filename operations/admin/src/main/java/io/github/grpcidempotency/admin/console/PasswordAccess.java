package io.github.grpcidempotency.admin.console;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsExchange;
import io.github.grpcidempotency.admin.AdminAction;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.Optional;
import java.util.Set;

/** HTTP Basic authentication (RFC 7617) of one user. */
final class PasswordAccess implements ConsoleAccess {
  private static final int MIN_PASSWORD = 16;
  private static final String SCHEME = "Basic ";

  private final ConsoleUser user;
  private final byte[] credentials;

  PasswordAccess(String actor, String password, Set<AdminAction> actions) {
    this.user = new ConsoleUser(actor, actions);
    if (password.length() < MIN_PASSWORD || actor.contains(":")) {
      throw new IllegalArgumentException(
          "a password has at least "
              + MIN_PASSWORD
              + " characters, and the name must not have a colon");
    }
    this.credentials = (actor + ":" + password).getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public Optional<ConsoleUser> authenticate(HttpExchange exchange) {
    return Optional.ofNullable(exchange.getRequestHeaders().getFirst("Authorization"))
        .filter(header -> isPrivate(exchange))
        .filter(header -> header.regionMatches(true, 0, SCHEME, 0, SCHEME.length()))
        .flatMap(header -> decoded(header.substring(SCHEME.length())))
        .filter(given -> MessageDigest.isEqual(given, credentials))
        .map(given -> user);
  }

  @Override
  public Optional<String> challenge() {
    return Optional.of("Basic realm=\"idempotency\", charset=\"UTF-8\"");
  }

  private static boolean isPrivate(HttpExchange exchange) {
    return exchange instanceof HttpsExchange
        || exchange.getRemoteAddress().getAddress().isLoopbackAddress();
  }

  private static Optional<byte[]> decoded(String text) {
    try {
      return Optional.of(Base64.getDecoder().decode(text.strip()));
    } catch (IllegalArgumentException malformed) {
      return Optional.empty();
    }
  }
}
