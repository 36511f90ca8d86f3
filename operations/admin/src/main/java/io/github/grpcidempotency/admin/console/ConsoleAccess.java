package io.github.grpcidempotency.admin.console;

import com.sun.net.httpserver.HttpExchange;
import io.github.grpcidempotency.admin.AdminAction;
import java.util.Optional;
import java.util.Set;

/**
 * Says who uses the console, and what they may do. It is asked for every request, and is the only
 * door: the console knows no user of its own. It must be thread-safe, and may block.
 */
@FunctionalInterface
public interface ConsoleAccess {
  /**
   * Finds out who sends a request: by a header that a proxy in front has set and that nobody else
   * can send, by a session of the host, by a client certificate, or by {@link
   * HttpExchange#getPrincipal()} behind an authenticator of the host.
   *
   * @return who it is; empty to refuse. Whatever is thrown refuses as well
   */
  Optional<ConsoleUser> authenticate(HttpExchange exchange);

  /**
   * Returns the header {@code WWW-Authenticate} of a refusal, so that the browser asks for a
   * password.
   *
   * @return empty to refuse with 403 instead of 401
   */
  default Optional<String> challenge() {
    return Optional.empty();
  }

  /**
   * Asks for one name and password, by HTTP Basic authentication: for a console on one's own
   * machine, or at the end of an SSH tunnel. A request from another machine is refused unless it
   * came over HTTPS, because the password would be read on its way.
   *
   * @param password of at least 16 characters; generate it
   * @throws IllegalArgumentException if the password is too short, or the name is blank or has a
   *     colon
   */
  static ConsoleAccess password(String actor, String password, Set<AdminAction> actions) {
    return new PasswordAccess(actor, password, actions);
  }
}
