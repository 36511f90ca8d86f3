package io.github.grpcidempotency.admin.console;

import com.sun.net.httpserver.HttpExchange;
import io.github.grpcidempotency.admin.AdminAction;
import java.util.Optional;
import java.util.Set;

/**
 * Authenticates and authorizes the users of the console. It is called for every request, and is the
 * only check: the console has no users of its own. Implementations must be thread-safe, and may
 * block.
 */
@FunctionalInterface
public interface ConsoleAccess {
  /**
   * Returns the user who sends a request: by a header that only a proxy in front can set, by a
   * session of the host, by a client certificate, or by {@link HttpExchange#getPrincipal()} behind
   * an authenticator of the host.
   *
   * @return the user; empty to refuse the request. An exception refuses it as well
   */
  Optional<ConsoleUser> authenticate(HttpExchange exchange);

  /**
   * Returns the header {@code WWW-Authenticate} of a refusal, which makes the browser prompt for a
   * password.
   *
   * @return the header's value; empty to refuse with 403 instead of 401
   */
  default Optional<String> challenge() {
    return Optional.empty();
  }

  /**
   * Returns access with one name and password, by HTTP Basic authentication: for a console on the
   * user's own machine, or at the end of an SSH tunnel. A request from another machine is refused
   * unless it uses HTTPS, because others could read the password.
   *
   * @param password of at least 16 characters; generate it
   * @throws IllegalArgumentException if the password is too short, or the name is blank or has a
   *     colon
   */
  static ConsoleAccess password(String actor, String password, Set<AdminAction> actions) {
    return new PasswordAccess(actor, password, actions);
  }
}
