package io.github.grpcidempotency.shard;

import static com.google.common.base.Preconditions.checkArgument;

import io.github.grpcidempotency.background.RateLimitedLog;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.proto.Experimental;
import io.github.grpcidempotency.spi.IdempotencyStore;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.slf4j.LoggerFactory;

/**
 * The stores of a service with several databases. A function of the service returns the shard of
 * each caller:
 *
 * <ol>
 *   <li>Start-up checks every shard, and lists every problem with the shard's name. A shard that
 *       cannot be reached is checked before its first call instead, unless no shard can be reached.
 *   <li>The shard of a call is chosen before its claim. All operations of the call use that shard.
 *   <li>If the function returns no shard, the call is refused, and the handler does not run.
 *   <li>Each shard has its own leases, waiting duplicates and late answers, and its own threads for
 *       them. A problem of one shard does not affect the others.
 * </ol>
 *
 * <p><strong>The function must always return the same shard for the same caller.</strong> Otherwise
 * a retry does not find its record, and runs the handler again. Before you move a caller to another
 * shard, let the function return no shard for that caller.
 *
 * <p>Thread-safe if the function and the stores are.
 */
@Experimental
public final class Shards {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._-]{0,62}");

  private final RateLimitedLog log = RateLimitedLog.of(LoggerFactory.getLogger(Shards.class));
  private final SortedMap<String, IdempotencyStore> stores;
  private final Function<Caller, Optional<String>> choice;

  private Shards(
      Map<String, ? extends IdempotencyStore> stores, Function<Caller, Optional<String>> choice) {
    this.stores = Collections.unmodifiableSortedMap(new TreeMap<>(stores));
    this.choice = choice;
  }

  /**
   * Returns the shards of a service.
   *
   * @param stores the stores by the names of their shards, which appear in events, metrics, logs
   *     and errors
   * @param choice returns the shard of a caller; empty if the caller has none or is being moved. It
   *     is called for every call, so it must be quick. If it throws, the call is refused
   * @throws IllegalArgumentException if there is no store, or a name is not 1 to 63 characters of
   *     {@code [A-Za-z0-9._-]}, the first of them a letter, a digit or an underscore
   */
  public static Shards of(
      Map<String, ? extends IdempotencyStore> stores, Function<Caller, Optional<String>> choice) {
    checkArgument(!stores.isEmpty(), "there is no shard: pass the store of at least one");
    for (String name : stores.keySet()) {
      checkArgument(
          NAME.matcher(name).matches(),
          "a shard's name must have 1 to 63 characters of [A-Za-z0-9._-], and must not begin with"
              + " [.-]");
    }
    return new Shards(stores, choice);
  }

  /** Returns the stores by the names of their shards, in the order of the names. */
  public Map<String, IdempotencyStore> stores() {
    return stores;
  }

  /** Returns the name of a caller's shard; empty if the caller has none. Does not block. */
  public Optional<String> shardOf(Caller caller) {
    Optional<String> name;
    try {
      name =
          Objects.requireNonNull(
              choice.apply(caller), "the function that chooses shards returned null");
    } catch (Throwable failed) {
      log.warn("choice", failed, "the function that chooses shards failed; the call is refused");
      return Optional.empty();
    }
    if (name.isPresent() && !stores.containsKey(name.get())) {
      log.warn(
          "unknown " + name.get(),
          null,
          "the function that chooses shards returned an unknown shard: " + name.get());
      return Optional.empty();
    }
    return name;
  }
}
