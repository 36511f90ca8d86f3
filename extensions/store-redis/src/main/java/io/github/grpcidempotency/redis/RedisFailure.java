package io.github.grpcidempotency.redis;

import com.google.common.base.Throwables;
import io.github.grpcidempotency.spi.FailurePhase;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.StoreException;
import io.lettuce.core.RedisCommandExecutionException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** A failure of Redis, classified by its error code and by the step that failed. */
final class RedisFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * In the error of a script, the code is at the beginning; in Redis 6 and earlier, it is within
   * the text.
   */
  private static final Pattern CODE =
      Pattern.compile(
          "(?:^|[ -])(LOADING|READONLY|NOREPLICAS|OOM|MISCONF|NOPERM|NOAUTH|WRONGPASS|BUSY"
              + "|CLUSTERDOWN|MASTERDOWN|MOVED|ASK|TRYAGAIN|UNBLOCKED)(?= )");

  private static final String TOO_MANY_CLIENTS = "max number of clients";

  /** The message of Redis 6.2 about a missing right inside a script. */
  private static final Pattern RIGHT_IN_SCRIPT =
      Pattern.compile("can't run this command|no permissions", Pattern.CASE_INSENSITIVE);

  /** The error codes for a user that the server refuses before any command. */
  private static final Set<String> REFUSED_USERS = Set.of("NOAUTH", "WRONGPASS", "NOPERM");

  private final FailureCause why;
  private final boolean answered;
  private final boolean forgetful;

  private RedisFailure(
      String message, @Nullable Throwable cause, FailureCause why, boolean answered) {
    this(message, cause, why, answered, false);
  }

  private RedisFailure(
      String message,
      @Nullable Throwable cause,
      FailureCause why,
      boolean answered,
      boolean forgetful) {
    super(message, cause);
    this.forgetful = forgetful;
    this.why = why;
    this.answered = answered;
  }

  /**
   * Returns a failure to connect. Nothing was sent.
   *
   * @param sentinels whether sentinels return the master. Then no failure proves an outage: the
   *     sentinels may be out of reach while the master serves others, or name another master
   */
  static RedisFailure ofConnect(Throwable failure, boolean sentinels) {
    return new RedisFailure(
        "could not connect to Redis",
        failure,
        errorOf(failure)
            .map(RedisFailure::causeOfRefusal)
            .orElseGet(() -> sentinels ? FailureCause.NO_LOGIN : causeOfNoConnection(failure)),
        true);
  }

  /**
   * Returns the failure to use a closed store. This is no outage: other servers may still use Redis
   * and hold keys.
   */
  static RedisFailure closed() {
    return new RedisFailure("the store is closed", null, FailureCause.SHUTTING_DOWN, true);
  }

  /** Returns the failure of a command on an open connection. */
  static RedisFailure ofCommand(Throwable failure) {
    Optional<String> error = errorOf(failure);
    return error.isPresent()
        ? new RedisFailure("Redis refused a command", failure, causeOf(error.get()), true)
        : lost(failure);
  }

  /**
   * Returns the failure of a command whose answer did not arrive. The command may have been
   * executed.
   */
  static RedisFailure lost(@Nullable Throwable failure) {
    return new RedisFailure(
        "the connection to Redis broke", failure, FailureCause.CONNECTION_LOST, false);
  }

  /** Returns the failure of a write that was executed, but that too few replicas have confirmed. */
  static RedisFailure unconfirmed(long confirmed, int wanted) {
    return new RedisFailure(
        "only %d of %d required replicas have confirmed the write".formatted(confirmed, wanted),
        null,
        FailureCause.CONNECTION_LOST,
        false);
  }

  /**
   * Returns the refusal to write to a server that may lose the write. This is no outage: a call
   * must not run unprotected because of it.
   */
  static RedisFailure forgetful(List<String> problems) {
    return new RedisFailure(
        "the settings of Redis may lose records: " + String.join("; ", problems),
        null,
        FailureCause.OTHER,
        true,
        true);
  }

  private static Optional<String> errorOf(Throwable failure) {
    return Throwables.getCausalChain(failure).stream()
        .filter(RedisCommandExecutionException.class::isInstance)
        .map(error -> String.valueOf(error.getMessage()))
        .findFirst();
  }

  private static FailureCause causeOfRefusal(String error) {
    if (error.contains(TOO_MANY_CLIENTS)) {
      return FailureCause.POOL_EXHAUSTED;
    }
    FailureCause cause = causeOf(error);
    return cause == FailureCause.SHUTTING_DOWN ? cause : FailureCause.NO_LOGIN;
  }

  /** An accepted connection shows that a server exists, even if it does not answer. */
  private static FailureCause causeOfNoConnection(Throwable failure) {
    boolean nobody =
        Throwables.getCausalChain(failure).stream()
            .anyMatch(
                cause ->
                    cause instanceof ConnectException
                        || cause instanceof NoRouteToHostException
                        || cause instanceof UnknownHostException);
    return nobody ? FailureCause.NO_CONNECTION : FailureCause.NO_LOGIN;
  }

  private static FailureCause causeOf(String error) {
    return switch (codeOf(error)) {
      case "LOADING", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN", "MOVED", "ASK" ->
          FailureCause.SHUTTING_DOWN;
      case "READONLY", "NOREPLICAS", "UNBLOCKED" -> FailureCause.READ_ONLY;
      case "OOM", "MISCONF", "NOPERM", "NOAUTH", "WRONGPASS" -> FailureCause.BROKEN;
      case "BUSY" -> FailureCause.TIMEOUT;
      default -> FailureCause.OTHER;
    };
  }

  private static String codeOf(String error) {
    Matcher code = CODE.matcher(error);
    if (code.find()) {
      return code.group(1);
    }
    return RIGHT_IN_SCRIPT.matcher(error).find() ? "NOPERM" : "ERR";
  }

  FailureCause why() {
    return why;
  }

  boolean mayBeDone() {
    return !answered;
  }

  /** Returns whether this server is a replica, or has lost its own replicas. */
  boolean isReadOnly() {
    return why == FailureCause.READ_ONLY;
  }

  boolean isForgetful() {
    return forgetful;
  }

  /** Returns the mistake that an operator has to correct, if the failure is permanent. */
  Optional<String> mistake() {
    Optional<String> error = errorOf(this);
    if (error.isPresent()) {
      return error
          .filter(said -> REFUSED_USERS.contains(codeOf(said)))
          .map(
              said ->
                  "Redis refused the login: \"%s\"; check the user and the password"
                      .formatted(said));
    }
    return Throwables.getCausalChain(this).stream()
        .filter(SSLException.class::isInstance)
        .findFirst()
        .map(
            handshake ->
                "could not open an encrypted connection (%s): check the server's certificate"
                    .formatted(Throwables.getRootCause(handshake)));
  }

  /** Returns the server's error message, or the client's. */
  String said() {
    return errorOf(this).orElseGet(() -> String.valueOf(Throwables.getRootCause(this)));
  }

  /** Returns the store's exception for an operation that is not a claim. */
  StoreException inStore(String message) {
    return StoreException.of(FailurePhase.HANDLER_DONE, why, message).initCause(this);
  }
}
