package io.github.grpcidempotency.testing;

import static java.util.stream.Collectors.toSet;

import io.github.grpcidempotency.background.DaemonThreads;
import io.github.grpcidempotency.background.RateLimitedLog;
import io.github.grpcidempotency.background.RepeatedTask;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.CompletionWatch;
import io.github.grpcidempotency.spi.OperationCatalog;
import io.github.grpcidempotency.spi.OperationCatalog.OwnedResource;
import io.github.grpcidempotency.spi.OperationStore;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.spi.StoredOperation;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.slf4j.LoggerFactory;

/**
 * A store for tests of services, which keeps its records in memory. Its clock is the system clock,
 * and can be advanced, so that a test need not wait for the end of a lease or of a record. It does
 * not support transactions, so a server with transactional procedures does not start with it.
 *
 * <p>Thread-safe.
 */
public final class InMemoryIdempotencyStore implements OperationStore {
  private final Duration lease;
  private final Map<IdempotencyKey, Row> rows = new HashMap<>();
  private Duration ahead = Duration.ZERO;
  private long ids;

  /** Creates a store with leases of 30 seconds. */
  public InMemoryIdempotencyStore() {
    this(Duration.ofSeconds(30));
  }

  /** Creates a store. */
  public InMemoryIdempotencyStore(Duration lease) {
    this.lease = lease;
  }

  /** Advances the store's clock. */
  public synchronized void advance(Duration time) {
    ahead = ahead.plus(time);
  }

  @Override
  public void verify(Collection<RecordedProcedure> procedures, Optional<String> shard) {}

  @Override
  public synchronized ClaimResult claim(ClaimRequest request) {
    Row row = rows.get(request.key());
    if (row == null || row.isExpired()) {
      return won(new Row(request, newId(), 1, now().plus(request.retention())));
    }
    if (row.outcome.isPresent()) {
      return row.recorded(row.outcome.get());
    }
    return row.isAbandoned() && request.isFor(row.request.procedure().name(), row.fingerprint())
        ? won(new Row(request, row.operationId, row.attempt + 1, row.expires))
        : row.inFlight();
  }

  @Override
  public synchronized Optional<ClaimResult> find(IdempotencyKey key, RecordedProcedure procedure) {
    return Optional.ofNullable(rows.get(key))
        .filter(row -> !row.isExpired())
        .map(row -> row.outcome.map(row::recorded).orElseGet(row::inFlight));
  }

  private ClaimResult won(Row row) {
    rows.put(row.request.key(), row);
    return new ClaimResult.Won(row);
  }

  @Override
  public synchronized Instant retain(ClaimRequest request, ClaimResult.Recorded recorded) {
    Row row = rows.get(request.key());
    if (row == null) {
      return recorded.expires();
    }
    Duration tenth = request.retention().dividedBy(10);
    Instant renewed = now().plus(request.retention());
    if (row.expires.isBefore(renewed.minus(tenth))) {
      row.expires = renewed;
    }
    return row.expires;
  }

  @Override
  public synchronized Set<UUID> renew(Collection<Claim> claims) {
    Set<UUID> renewed = new HashSet<>();
    for (Claim claim : claims) {
      if (claim instanceof Row row && row.runs()) {
        row.leaseEnds = now().plus(lease);
        renewed.add(row.operationId);
      }
    }
    return renewed;
  }

  @Override
  public CompletionWatch watch(Consumer<IdempotencyKey> ended) {
    return new Watch(ended);
  }

  @Override
  public Duration lease() {
    return lease;
  }

  @Override
  public OperationCatalog operations(Collection<RecordedProcedure> procedures) {
    return new Catalog(procedures.stream().map(RecordedProcedure::name).collect(toSet()));
  }

  /** Returns a new id. Ids increase, because lists are ordered by id. */
  private UUID newId() {
    ids++;
    return new UUID(ids << 16 | 0x7000, UUID.randomUUID().getLeastSignificantBits());
  }

  private synchronized boolean isInFlight(IdempotencyKey key) {
    Row row = rows.get(key);
    return row != null && row.outcome.isEmpty() && !row.unknown && !row.isAbandoned();
  }

  private Instant now() {
    return Instant.now().plus(ahead);
  }

  /** Checks fifty times a second whether the watched operations are still running. */
  private final class Watch implements CompletionWatch {
    private final Consumer<IdempotencyKey> ended;
    private final Set<IdempotencyKey> watched = ConcurrentHashMap.newKeySet();
    private static final Duration INTERVAL = Duration.ofMillis(20);
    private static final RateLimitedLog log =
        RateLimitedLog.of(LoggerFactory.getLogger(Watch.class));
    private final ScheduledExecutorService timer = DaemonThreads.newTimer("in-memory-watch");

    Watch(Consumer<IdempotencyKey> ended) {
      this.ended = ended;
      RepeatedTask.of("look for operations that have ended", log, this::look)
          .every(timer, INTERVAL, INTERVAL);
    }

    @Override
    public void add(IdempotencyKey key) {
      watched.add(key);
    }

    @Override
    public void remove(IdempotencyKey key) {
      watched.remove(key);
    }

    @Override
    public void close() {
      timer.shutdownNow();
    }

    private void look() {
      List.copyOf(watched).stream().filter(key -> !isInFlight(key)).forEach(ended);
    }
  }

  /** The operations of some procedures. */
  private final class Catalog implements OperationCatalog {
    private final Set<String> procedures;

    Catalog(Set<String> procedures) {
      this.procedures = procedures;
    }

    private Stream<Row> rowsOf(Caller caller) {
      return rows.values().stream()
          .filter(row -> row.request.key().caller().equals(caller))
          .filter(row -> procedures.contains(row.request.procedure().name()))
          .filter(row -> !row.isExpired());
    }

    @Override
    public List<StoredOperation> find(Caller caller, Collection<UUID> operationIds) {
      synchronized (InMemoryIdempotencyStore.this) {
        return rowsOf(caller)
            .filter(row -> operationIds.contains(row.operationId))
            .map(Row::operation)
            .toList();
      }
    }

    @Override
    public List<StoredOperation> list(
        Caller caller, Set<String> wanted, Optional<UUID> before, int limit) {
      synchronized (InMemoryIdempotencyStore.this) {
        return rowsOf(caller)
            .filter(row -> wanted.contains(row.request.procedure().name()))
            .filter(row -> before.map(last -> row.operationId.compareTo(last) < 0).orElse(true))
            .sorted(Comparator.comparing(Row::operationId).reversed())
            .limit(limit)
            .map(Row::operation)
            .toList();
      }
    }

    @Override
    public boolean forget(Caller caller, UUID operationId) {
      synchronized (InMemoryIdempotencyStore.this) {
        return rowsOf(caller)
            .filter(row -> row.operationId.equals(operationId) && row.outcome.isPresent())
            .findFirst()
            .map(row -> rows.remove(row.request.key()))
            .isPresent();
      }
    }

    @Override
    public Map<OwnedResource, IdempotencyStatus> statuses(
        RecordedProcedure procedure, Collection<OwnedResource> resources) {
      return Map.of();
    }
  }

  /** The record of a key. It is also the fence, because a successor has another row. */
  private final class Row implements Claim {
    private final ClaimRequest request;
    private final UUID operationId;
    private final int attempt;
    private final Instant created = now();
    private Optional<Instant> answered = Optional.empty();
    private Instant leaseEnds = now().plus(lease);
    private Instant expires;
    private boolean unknown;
    private Optional<RecordedOutcome> outcome = Optional.empty();

    Row(ClaimRequest request, UUID operationId, int attempt, Instant expires) {
      this.request = request;
      this.operationId = operationId;
      this.attempt = attempt;
      this.expires = expires;
    }

    Fingerprint fingerprint() {
      return request.fingerprint();
    }

    boolean isExpired() {
      return !expires.isAfter(now()) && (outcome.isPresent() || isAbandoned());
    }

    boolean isAbandoned() {
      return outcome.isEmpty() && !leaseEnds.isAfter(now());
    }

    boolean stands() {
      return rows.get(request.key()) == this;
    }

    boolean runs() {
      return stands() && outcome.isEmpty();
    }

    ClaimResult recorded(RecordedOutcome answer) {
      return ClaimResult.Recorded.of(
              operationId, request.procedure().name(), fingerprint(), answer, expires)
          .withTrace(request.trace());
    }

    ClaimResult inFlight() {
      return new ClaimResult.InFlight(
          Optional.of(fingerprint()),
          Optional.of(request.procedure().name()),
          Optional.of(operationId),
          Optional.of(isAbandoned() ? Duration.ZERO : Duration.between(now(), leaseEnds)),
          unknown);
    }

    StoredOperation operation() {
      return new StoredOperation(
          request.key(), outcome.map(this::recorded).orElseGet(this::inFlight), created, answered);
    }

    @Override
    public ClaimRequest request() {
      return request;
    }

    @Override
    public int attempt() {
      return attempt;
    }

    @Override
    public UUID operationId() {
      return operationId;
    }

    @Override
    public Instant expires() {
      synchronized (InMemoryIdempotencyStore.this) {
        return expires;
      }
    }

    @Override
    public Settled complete(RecordedOutcome answer) {
      synchronized (InMemoryIdempotencyStore.this) {
        if (!stands()) {
          return Settled.LOST;
        }
        if (outcome.isEmpty()) {
          outcome = Optional.of(answer);
          answered = Optional.of(now());
        }
        return Settled.DONE;
      }
    }

    @Override
    public Settled release() {
      return ifRuns(() -> rows.remove(request.key()));
    }

    @Override
    public Settled markUnknown() {
      return ifRuns(() -> unknown = true);
    }

    private Settled ifRuns(Runnable change) {
      synchronized (InMemoryIdempotencyStore.this) {
        if (!runs()) {
          return Settled.LOST;
        }
        change.run();
        return Settled.DONE;
      }
    }
  }
}
