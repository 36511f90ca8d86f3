package io.github.grpcidempotency.redis;

import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.proto.Experimental;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.CompletionWatch;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.store.SetupException;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Records operations in Redis (6.2 or later) or Valkey. Claims, completions and replays take one
 * round trip each, and a second one if replicas must confirm. Expired records are deleted by the
 * server. It has no transactions, so a server with transactional procedures does not start on it.
 *
 * <p>Effect and record are in two systems: a crash between them runs the handler again once the
 * lease has ended. The settings of Redis determine what a crash loses; see {@link Durability}.
 *
 * <p>Thread-safe. Close it after the servers that use it.
 */
@Experimental
public final class RedisIdempotencyStore implements IdempotencyStore, AutoCloseable {
  private static final Duration SHORTEST_LEASE = Duration.ofMillis(100);
  private static final Duration LONGEST_LEASE = Duration.ofDays(1);
  private static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(10);
  private static final Duration LONGEST_TIMEOUT = Duration.ofHours(1);

  private final Durability durability;
  private final RecordStore records;

  private RedisIdempotencyStore(Builder builder) {
    this.durability = builder.durability;
    RecordKey names = new RecordKey(builder.prefix);
    RedisLink link =
        new RedisLink(
            builder.uri,
            builder.clientOptions,
            builder.timeout,
            names.barrier(),
            durability.replicas().orElse(0));
    this.records =
        new RecordStore(
            link, names, new SettingsWatch(durability, builder.settingsInterval), builder.lease);
  }

  /**
   * Returns a builder of a store on a server, or on the master that sentinels name.
   *
   * @param uri the address, the user, the password, and whether the connection is encrypted
   */
  public static Builder builder(RedisURI uri) {
    return new Builder(uri);
  }

  @Override
  public void verify(Collection<RecordedProcedure> procedures, Optional<String> shard) {
    try {
      new StartupCheck(records, durability).run(procedures, shard);
      records.settings().start();
    } catch (RedisFailure failure) {
      failure
          .mistake()
          .ifPresent(
              mistake -> {
                throw new SetupException(List.of(mistake));
              });
      throw failure.inStore("could not check the store at start-up");
    }
  }

  @Override
  public ClaimResult claim(ClaimRequest request) {
    return new ClaimAttempt(records, request).run();
  }

  @Override
  public Optional<ClaimResult> find(IdempotencyKey key, RecordedProcedure procedure) {
    return records.inStore(
        "read the record", session -> RecordStore.find(session, records.keyOf(key)));
  }

  @Override
  public Instant retain(ClaimRequest request, ClaimResult.Recorded recorded) {
    return records.inStore(
        "retain the record",
        session -> {
          List<@Nullable Object> expires =
              session.run(
                  Script.RETAIN,
                  records.keyOf(request.key()),
                  RecordReply.bytes(recorded.operationId().toString()),
                  RecordReply.bytes(request.retention().toMillis()),
                  RecordReply.bytes(lease().toMillis()));
          if (expires.isEmpty()) {
            return recorded.expires();
          }
          session.confirm();
          return Instant.ofEpochMilli(RecordReply.number(expires.get(0)));
        });
  }

  @Override
  public Set<UUID> renew(Collection<Claim> claims) {
    if (claims.isEmpty()) {
      return Set.of();
    }
    return records.inStore("renew leases", session -> renew(session, claims));
  }

  /** Sends all renewals before it waits for the first answer. */
  private Set<UUID> renew(RedisSession session, Collection<Claim> claims) {
    byte[] lease = RecordReply.bytes(lease().toMillis());
    Map<Reservation, CompletableFuture<List<@Nullable Object>>> answers = new LinkedHashMap<>();
    for (Claim claim : claims) {
      if (claim instanceof Reservation reservation) {
        answers.put(
            reservation,
            session.start(Script.RENEW, reservation.key(), reservation.owner(), lease));
      }
    }
    Set<UUID> renewed = new HashSet<>();
    answers.forEach(
        (reservation, answer) -> {
          if (RecordReply.isDone(session.await(answer))) {
            renewed.add(reservation.operationId());
          }
        });
    return renewed;
  }

  @Override
  public CompletionWatch watch(Consumer<IdempotencyKey> ended) {
    return new RedisCompletionWatch(records, ended);
  }

  @Override
  public Duration lease() {
    return records.lease();
  }

  /** Closes its connections. */
  @Override
  public void close() {
    records.link().close();
  }

  /** Settings of the store. Not thread-safe. */
  public static final class Builder {
    private static final Pattern PREFIX = Pattern.compile("[A-Za-z0-9_.-]{1,64}");

    private final RedisURI uri;
    private Durability durability = Durability.everyWrite();
    private String prefix = "idempotency";
    private Duration lease = Duration.ofSeconds(30);
    private Duration timeout = Duration.ofSeconds(2);
    private Duration settingsInterval = Duration.ofSeconds(10);
    private UnaryOperator<ClientOptions.Builder> clientOptions = UnaryOperator.identity();

    private Builder(RedisURI uri) {
      this.uri = uri;
    }

    /**
     * Sets the failures that a reservation or an answer must survive; {@link Durability#everyWrite}
     * by default.
     */
    public Builder durability(Durability durability) {
      this.durability = durability;
      return this;
    }

    /**
     * Sets the prefix of the names of all records; {@code idempotency} by default. Each service
     * that shares a server needs a prefix of its own.
     *
     * @throws IllegalArgumentException if it is not 1 to 64 characters of {@code [A-Za-z0-9_.-]}
     */
    public Builder prefix(String prefix) {
      if (!PREFIX.matcher(prefix).matches()) {
        throw new IllegalArgumentException(
            "the prefix must be 1 to 64 characters of [A-Za-z0-9_.-]");
      }
      this.prefix = prefix;
      return this;
    }

    /**
     * Sets how long a crashed server's call blocks its key; 30 seconds by default. A lease is
     * renewed at every third of its length while the handler runs, so it need not be longer than a
     * slow handler. The lease should be longer than a failover of Redis, and longer than the
     * difference between the clocks of its nodes.
     *
     * @throws IllegalArgumentException if it is shorter than 100 milliseconds or longer than a day
     */
    public Builder lease(Duration lease) {
      if (lease.compareTo(SHORTEST_LEASE) < 0 || lease.compareTo(LONGEST_LEASE) > 0) {
        throw new IllegalArgumentException(
            "the lease must be between 100 ms and a day, not " + lease);
      }
      this.lease = lease;
      return this;
    }

    /**
     * Sets the maximum time for connecting and for an answer; two seconds by default. If an answer
     * takes longer, the answer counts as lost, and the connection is closed. Replicas must confirm
     * within the same time.
     *
     * @throws IllegalArgumentException if it is shorter than 10 milliseconds or longer than an hour
     */
    public Builder timeout(Duration timeout) {
      if (timeout.compareTo(SHORTEST_TIMEOUT) < 0 || timeout.compareTo(LONGEST_TIMEOUT) > 0) {
        throw new IllegalArgumentException(
            "the timeout must be between 10 ms and an hour, not " + timeout);
      }
      this.timeout = timeout;
      return this;
    }

    /**
     * Changes the driver's options, such as certificates. The store itself sets the options for the
     * protocol version and for repeating commands.
     */
    public Builder clientOptions(UnaryOperator<ClientOptions.Builder> change) {
      this.clientOptions = change;
      return this;
    }

    /** Sets how often the server's settings are checked, for tests. */
    Builder settingsInterval(Duration interval) {
      this.settingsInterval = interval;
      return this;
    }

    /** Returns the store. It connects when it is first used. */
    public RedisIdempotencyStore build() {
      return new RedisIdempotencyStore(this);
    }
  }
}
