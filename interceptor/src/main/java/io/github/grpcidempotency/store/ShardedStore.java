package io.github.grpcidempotency.store;

import static java.util.stream.Collectors.groupingBy;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.SetupException;
import io.github.grpcidempotency.store.support.RateLimitedLog;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Combines several stores, for a service with several databases. A function of the service returns
 * the shard of each caller:
 *
 * <ol>
 *   <li>Start-up checks every shard, and lists every problem with the shard's name. A shard that
 *       cannot be reached is checked before its first call instead, unless no shard can be reached.
 *   <li>The shard of a call is chosen before its claim. All operations of the call use that shard.
 *   <li>If the function returns no shard, the call is refused with {@link FailureCause#NO_SHARD}.
 *       The handler does not run.
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
public final class ShardedStore implements TransactionalStore, OperationStore {
  private static final Logger logger = LoggerFactory.getLogger(ShardedStore.class);
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._-]{0,62}");

  private final RateLimitedLog log = RateLimitedLog.of(logger);
  private final Function<Caller, Optional<String>> choice;
  private final Map<String, Shard> shards;
  private final UnassignedStore unassigned;

  private ShardedStore(Builder builder) {
    this.choice = builder.choice;
    this.shards = new LinkedHashMap<>(builder.shards);
    this.unassigned =
        new UnassignedStore(
            shards.values().stream()
                .map(Shard::lease)
                .min(Comparator.naturalOrder())
                .orElseThrow());
  }

  /**
   * Returns a builder.
   *
   * @param choice returns the shard of a caller; empty if the caller has none or is being moved. It
   *     is called more than once for every call, so it must be quick. If it throws, the call is
   *     refused
   */
  public static Builder builder(Function<Caller, Optional<String>> choice) {
    return new Builder(choice);
  }

  /** Returns the names of the shards, in the order in which they were added. */
  public List<String> names() {
    return List.copyOf(shards.keySet());
  }

  /** Returns the name of a caller's shard; empty if the caller has none. Does not block. */
  public Optional<String> shardOf(Caller caller) {
    Optional<String> name;
    try {
      name =
          Objects.requireNonNull(
              choice.apply(caller), "the function that chooses shards returned null");
    } catch (RuntimeException failed) {
      log.warn("choice", failed, "the function that chooses shards failed; the call is refused");
      return Optional.empty();
    }
    if (name.isPresent() && !shards.containsKey(name.get())) {
      log.warn(
          "unknown " + name.get(),
          null,
          "the function that chooses shards returned an unknown shard: " + name.get());
      return Optional.empty();
    }
    return name;
  }

  /**
   * Returns the store of a shard.
   *
   * @param name the name of the shard; empty for the store that refuses every call
   * @throws IllegalArgumentException if there is no such shard
   */
  public IdempotencyStore shard(Optional<String> name) {
    return storeOf(name);
  }

  private TransactionalStore storeOf(Optional<String> name) {
    if (name.isEmpty()) {
      return unassigned;
    }
    Shard shard = shards.get(name.get());
    if (shard == null) {
      throw new IllegalArgumentException("there is no shard " + name.get());
    }
    return shard;
  }

  private TransactionalStore of(Caller caller) {
    return storeOf(shardOf(caller));
  }

  private TransactionalStore of(IdempotencyKey key) {
    return of(key.caller());
  }

  @Override
  public void verify(Collection<RecordedProcedure> procedures) {
    verify(shard -> shard.verify(procedures));
  }

  /** Returns those of the shards that can be reached. */
  @Override
  public Set<ByteString> answerBeginnings(String procedure) {
    Set<ByteString> beginnings = new HashSet<>();
    for (Shard shard : shards.values()) {
      try {
        beginnings.addAll(shard.answerBeginnings(procedure));
      } catch (StoreException unreachable) {
        // It is checked before its first call, without this.
      }
    }
    return beginnings;
  }

  @Override
  public void verifyTransactions() {
    verify(Shard::verifyTransactions);
  }

  @Override
  public void verifyLateClaims() {
    verify(Shard::verifyLateClaims);
  }

  private void verify(Consumer<Shard> check) {
    List<String> problems = new ArrayList<>();
    List<StoreException> outages = new ArrayList<>();
    for (Shard shard : shards.values()) {
      try {
        check.accept(shard);
      } catch (SetupException wrong) {
        problems.addAll(wrong.problems());
      } catch (StoreException unreachable) {
        outages.add(unreachable);
      }
    }
    if (!problems.isEmpty()) {
      outages.forEach(outage -> problems.add(String.valueOf(outage.getMessage())));
      throw new SetupException(problems);
    }
    if (outages.size() == shards.size()) {
      throw outages.get(0);
    }
    outages.forEach(
        outage ->
            logger.warn(
                "{}; calls of its callers are refused until it is checked", outage.getMessage()));
  }

  @Override
  public ClaimResult claim(ClaimRequest request) {
    return of(request.key()).claim(request);
  }

  @Override
  public ClaimResult claimInTransaction(ClaimRequest request) {
    return of(request.key()).claimInTransaction(request);
  }

  @Override
  public PendingClaim claimLater(ClaimRequest request) {
    return of(request.key()).claimLater(request);
  }

  @Override
  public Optional<ClaimResult> find(IdempotencyKey key, RecordedProcedure procedure) {
    return of(key).find(key, procedure);
  }

  @Override
  public Instant retain(ClaimRequest request, ClaimResult.Recorded recorded) {
    return of(request.key()).retain(request, recorded);
  }

  @Override
  public StoreTransaction begin(Optional<Caller> caller) {
    return storeOf(caller.flatMap(this::shardOf)).begin(caller);
  }

  @Override
  public boolean bindsThreads() {
    return shards.values().stream().anyMatch(Shard::bindsThreads);
  }

  /**
   * Renews the leases of each shard in one statement. If a shard fails, its claims are returned as
   * owned, because their leases may not have ended yet.
   *
   * @throws StoreException if all shards with claims fail
   */
  @Override
  public Set<UUID> renew(Collection<Claim> claims) {
    Set<UUID> owned = new HashSet<>();
    List<StoreException> outages = new ArrayList<>();
    Map<IdempotencyStore, List<Claim>> byShard =
        claims.stream().collect(groupingBy(claim -> of(claim.request().key())));
    byShard.forEach(
        (shard, held) -> {
          try {
            owned.addAll(shard.renew(held));
          } catch (StoreException outage) {
            outages.add(outage);
            held.forEach(claim -> owned.add(claim.operationId()));
          }
        });
    if (!outages.isEmpty() && outages.size() == byShard.size()) {
      throw outages.get(0);
    }
    outages.forEach(outage -> log.warn("renew", outage, "could not renew the leases of a shard"));
    return owned;
  }

  @Override
  public CompletionWatch watch(Consumer<IdempotencyKey> ended) {
    Map<String, CompletionWatch> watches = new LinkedHashMap<>();
    shards.forEach((name, shard) -> watches.put(name, shard.watch(ended)));
    return new CompletionWatch() {
      @Override
      public void add(IdempotencyKey key) {
        shardOf(key.caller()).map(watches::get).ifPresent(watch -> watch.add(key));
      }

      @Override
      public void remove(IdempotencyKey key) {
        watches.values().forEach(watch -> watch.remove(key));
      }

      @Override
      public void close() {
        watches.values().forEach(CompletionWatch::close);
      }
    };
  }

  /** Returns the shortest lease of its shards. */
  @Override
  public Duration lease() {
    return unassigned.lease();
  }

  @Override
  public OperationCatalog operations(Collection<RecordedProcedure> procedures) {
    Map<String, OperationCatalog> catalogs = new LinkedHashMap<>();
    List<String> problems = new ArrayList<>();
    shards.forEach(
        (name, shard) -> {
          try {
            catalogs.put(name, shard.operations(procedures));
          } catch (SetupException wrong) {
            problems.addAll(wrong.problems());
          }
        });
    if (!problems.isEmpty()) {
      throw new SetupException(problems);
    }
    OperationCatalog nothing = unassigned.operations(procedures);
    return new ShardedCatalog(caller -> shardOf(caller).map(catalogs::get).orElse(nothing));
  }

  /** The settings of a {@code ShardedStore}. Not thread-safe. */
  public static final class Builder {
    private final Function<Caller, Optional<String>> choice;
    private final Map<String, Shard> shards = new LinkedHashMap<>();

    private Builder(Function<Caller, Optional<String>> choice) {
      this.choice = choice;
    }

    /**
     * Adds a shard.
     *
     * @param name the name of the shard in events, metrics, logs and errors
     * @throws IllegalArgumentException if the name is taken, or is not 1 to 63 characters of {@code
     *     [A-Za-z0-9._-]}, the first of them a letter, a digit or an underscore
     */
    public Builder shard(String name, IdempotencyStore store) {
      if (!NAME.matcher(name).matches()) {
        throw new IllegalArgumentException(
            "a shard's name must have 1 to 63 characters of [A-Za-z0-9._-], and must not begin with"
                + " [.-]");
      }
      if (store instanceof ShardedStore) {
        throw new IllegalArgumentException("a shard must not be a ShardedStore");
      }
      if (shards.putIfAbsent(name, new Shard(name, store)) != null) {
        throw new IllegalArgumentException("two shards have the name " + name);
      }
      return this;
    }

    /**
     * Returns the store.
     *
     * @throws IllegalStateException if no shard was added
     */
    public ShardedStore build() {
      if (shards.isEmpty()) {
        throw new IllegalStateException("a ShardedStore needs at least one shard: call shard(…)");
      }
      return new ShardedStore(this);
    }
  }
}
