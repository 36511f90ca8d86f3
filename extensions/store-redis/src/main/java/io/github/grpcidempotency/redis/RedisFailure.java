package io.github.grpcidempotency.redis;

import com.google.common.base.Throwables;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.FailurePhase;
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

/** What a failure of Redis means, by its error code and by when it happened. */
final class RedisFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** A script's error has the code within the text, up to Redis 6, and at its beginning since. */
  private static final Pattern CODE =
      Pattern.compile(
          "(?:^|[ -])(LOADING|READONLY|NOREPLICAS|OOM|MISCONF|NOPERM|NOAUTH|WRONGPASS|BUSY"
              + "|CLUSTERDOWN|MASTERDOWN|MOVED|ASK|TRYAGAIN|UNBLOCKED)(?= )");

  private static final String TOO_MANY_CLIENTS = "max number of clients";

  /** What 6.2 says of a missing right inside a script. */
  private static final Pattern RIGHT_IN_SCRIPT =
      Pattern.compile("can't run this command|no permissions", Pattern.CASE_INSENSITIVE);

  /** Who a server refuses before anything is asked of it. */
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

  /** Returns a failure to connect. Nothing was sent. */
  static RedisFailure ofConnect(Throwable failure) {
    return new RedisFailure(
        "could not connect to Redis",
        failure,
        errorOf(failure)
            .map(RedisFailure::causeOfRefusal)
            .orElseGet(() -> causeOfNoConnection(failure)),
        true);
  }

  /**
   * Returns the failure to use a store that was closed. It is no outage: other servers may still
   * use Redis, and own keys.
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

  /** Returns the failure of a command whose answer did not come: it may have been done. */
  static RedisFailure lost(@Nullable Throwable failure) {
    return new RedisFailure(
        "the connection to Redis broke", failure, FailureCause.CONNECTION_LOST, false);
  }

  /** Returns the failure of a write that was done, and that too few replicas have confirmed. */
  static RedisFailure unconfirmed(long confirmed, int wanted) {
    return new RedisFailure(
        "%d of %d replicas have confirmed the write".formatted(confirmed, wanted),
        null,
        FailureCause.CONNECTION_LOST,
        false);
  }

  /**
   * Returns the refusal to write to a server that would forget what is written. It is no outage:
   * nobody may run unguarded because of it.
   */
  static RedisFailure forgetful(List<String> problems) {
    return new RedisFailure(
        "the server's settings have changed: " + String.join("; ", problems),
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

  /** Returns why Redis failed. */
  FailureCause why() {
    return why;
  }

  /** Returns whether what was asked may have been done. */
  boolean mayBeDone() {
    return !answered;
  }

  /** Returns whether this server has a master that takes the writes, or has lost its replicas. */
  boolean isReadOnly() {
    return why == FailureCause.READ_ONLY;
  }

  /** Returns whether the server would forget what is written. */
  boolean isForgetful() {
    return forgetful;
  }

  /** Returns what somebody has to set right, if the failure does not pass by itself. */
  Optional<String> mistake() {
    Optional<String> error = errorOf(this);
    if (error.isPresent()) {
      return error
          .filter(said -> REFUSED_USERS.contains(codeOf(said)))
          .map(said -> "Redis says \"%s\": check user and password".formatted(said));
    }
    return Throwables.getCausalChain(this).stream()
        .filter(SSLException.class::isInstance)
        .findFirst()
        .map(
            handshake ->
                "no encrypted connection could be made (%s): check the server's certificate"
                    .formatted(Throwables.getRootCause(handshake)));
  }

  /** Returns what the server has said, or what went wrong. */
  String said() {
    return errorOf(this).orElseGet(() -> String.valueOf(Throwables.getRootCause(this)));
  }

  /** Returns the store's failure, for an operation that is no claim. */
  StoreException inStore(String message) {
    return new StoreException(message, this, FailurePhase.HANDLER_DONE, why);
  }
}
