package io.github.grpcidempotency.postgres;

import static java.util.stream.Collectors.toSet;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.postgres.internal.check.StartupCheck;
import io.github.grpcidempotency.postgres.internal.claim.RecordFinder;
import io.github.grpcidempotency.postgres.internal.claim.Reservation;
import io.github.grpcidempotency.postgres.internal.claim.ReservationAttempt;
import io.github.grpcidempotency.postgres.internal.database.Contention;
import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.database.StoreConnections;
import io.github.grpcidempotency.postgres.internal.database.StoreSettings;
import io.github.grpcidempotency.postgres.internal.operation.OutboxBacklog;
import io.github.grpcidempotency.postgres.internal.operation.PostgresCompletionWatch;
import io.github.grpcidempotency.postgres.internal.operation.PostgresOperationCatalog;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.Parameters;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.postgres.internal.transaction.ClaimAtCommit;
import io.github.grpcidempotency.postgres.internal.transaction.HandlerTransaction;
import io.github.grpcidempotency.postgres.internal.transaction.TransactionAttempt;
import io.github.grpcidempotency.spi.BatchCounts;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.CompletionWatch;
import io.github.grpcidempotency.spi.ConnectionCounts;
import io.github.grpcidempotency.spi.FailurePhase;
import io.github.grpcidempotency.spi.OperationCatalog;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.spi.StoreTransaction;
import io.github.grpcidempotency.spi.UnfinishedWork;
import io.github.grpcidempotency.store.StoreException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jdbi.v3.core.JdbiException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The store: passes each operation to the part that implements it. Thread-safe. */
final class PostgresStore extends PostgresIdempotencyStore {
  private static final Logger logger = LoggerFactory.getLogger(PostgresIdempotencyStore.class);

  /** The maximum number of times that the store is checked if connections break. */
  private static final int MAX_CHECKS = 5;

  private static final Duration PAUSE_BETWEEN_CHECKS = Duration.ofMillis(500);

  /** The name that the host may show for the transaction of a call without a key. */
  private static final String WITHOUT_KEY = "a call without an idempotency key";

  private final StoreSettings settings;
  private final RecordDatabase database;
  private final PostgresCompletionWatch watch;
  private final String beginSql;
  private final String renewSql;

  PostgresStore(StoreSettings settings, Duration lease) {
    this.settings = settings;
    this.database = new RecordDatabase(settings, lease);
    this.beginSql = database.files().load("transaction/begin");
    this.renewSql = database.files().load("maintenance/renew");
    this.watch =
        new PostgresCompletionWatch(settings.connections(), settings.schema(), settings.notifies());
  }

  @Override
  public void verify(Collection<RecordedProcedure> procedures, Optional<String> shard) {
    check(startup -> startup.run(procedures, shard));
  }

  @Override
  public Set<ByteString> answerBeginnings(String procedure) {
    return Set.copyOf(
        database.inStore(
            "read the beginnings of answers",
            connection ->
                StatementBatch.runForRows(
                    connection,
                    database.files().load("check/answer_beginnings"),
                    values -> values.bind("procedure", procedure),
                    row -> ByteString.copyFrom(row.getBytes(1)))));
  }

  @Override
  public void verifyTransactions() {
    check(StartupCheck::runTransactions);
  }

  /** Repeats the check a few times if a connection broke, because a failover may be under way. */
  private void check(Consumer<StartupCheck> checks) {
    boolean cut = false;
    for (int tries = 1; ; tries++) {
      StoreException failure;
      try {
        checks.accept(new StartupCheck(database, lease -> new PostgresStore(settings, lease)));
        return;
      } catch (JdbiException failed) {
        failure =
            database.failed(
                "could not check the store at start-up", failed, FailurePhase.HANDLER_DONE);
      } catch (StoreException failed) {
        failure = failed;
      }
      cut |= Failures.isCut(failure.failureCause());
      if (!cut || tries == MAX_CHECKS || !failure.failureCause().isTemporary()) {
        throw failure;
      }
      logger.warn(
          "a connection to the database broke while the store was checked, for example during a"
              + " failover; the check is repeated",
          failure);
      LockSupport.parkNanos(PAUSE_BETWEEN_CHECKS.toNanos());
    }
  }

  @Override
  public ClaimResult claim(ClaimRequest request) {
    ClaimResult result = new ReservationAttempt(database, request).run();
    if (result instanceof ClaimResult.Won) {
      settings.connections().retain(); // until the claim is closed
    }
    return result;
  }

  @Override
  public ClaimResult claimInTransaction(ClaimRequest request) {
    return new TransactionAttempt(database, request).run();
  }

  @Override
  public Claim claimAtCommit(ClaimRequest request) {
    try {
      return ClaimAtCommit.open(database, request);
    } catch (JdbiException failure) {
      throw database.failed("could not open a transaction", failure, FailurePhase.NOTHING_SENT);
    }
  }

  @Override
  public Optional<ClaimResult> find(IdempotencyKey key, RecordedProcedure procedure) {
    return database.inStore(
        "read the record", () -> new RecordFinder(database, key, procedure).findWithTransactions());
  }

  @Override
  public OperationCatalog operations(Collection<RecordedProcedure> procedures) {
    return PostgresOperationCatalog.open(database, procedures);
  }

  @Override
  public UnfinishedWork unfinishedWork(Collection<RecordedProcedure> procedures) {
    return new OutboxBacklog(database, procedures);
  }

  @Override
  public Instant retain(ClaimRequest request, ClaimResult.Recorded recorded) {
    String retain = database.sql(request.procedure()).retain; // may need a connection of its own
    return database.inStore(
        "retain the record",
        connection ->
            StatementBatch.run(
                    connection,
                    retain,
                    query -> query.bindOperation(request, recorded.operationId()),
                    row -> row.getObject("expires", OffsetDateTime.class).toInstant())
                .orElse(recorded.expires()));
  }

  @Override
  public boolean bindsThreads() {
    return settings.hosts().isPresent();
  }

  @Override
  public StoreTransaction begin(Optional<Caller> caller) {
    return database.inStore(
        "open a transaction",
        () ->
            HandlerTransaction.openWith(
                database,
                WITHOUT_KEY,
                connection ->
                    StatementBatch.run(
                        connection,
                        beginSql,
                        values -> values.bindCaller(caller),
                        row -> row.getString(1))));
  }

  @Override
  public CompletionWatch watch(Consumer<IdempotencyKey> ended) {
    return watch.subscribe(ended);
  }

  @Override
  public Set<UUID> renew(Collection<Claim> claims) {
    List<Claim> reservations = claims.stream().filter(Reservation.class::isInstance).toList();
    Set<UUID> renewed =
        reservations.isEmpty()
            ? Set.of()
            : database.inStore("renew leases", () -> renewReservations(reservations));
    return claims.stream()
        .filter(claim -> isOwned(claim, renewed))
        .map(Claim::operationId)
        .collect(toSet());
  }

  /**
   * A transaction needs no lease. A reservation that its handler's own transaction has completed
   * meanwhile was not renewed, but does not count as lost.
   */
  private static boolean isOwned(Claim claim, Set<UUID> renewed) {
    return !(claim instanceof Reservation reservation)
        || reservation.joined().isUsed()
        || renewed.contains(claim.operationId());
  }

  private Set<UUID> renewReservations(List<Claim> reservations) {
    return Set.copyOf(
        Contention.retrying(
            () ->
                settings
                    .connections()
                    .useForRenewal(
                        connection ->
                            StatementBatch.runForRows(
                                connection,
                                renewSql,
                                values -> bind(values, reservations),
                                row -> row.getObject(1, UUID.class)))));
  }

  private Parameters bind(Parameters values, List<Claim> reservations) {
    return values
        .bind("ids", reservations.stream().map(Claim::operationId).toArray(UUID[]::new))
        .bind("attempts", reservations.stream().map(Claim::attempt).toArray(Integer[]::new))
        .bind("lease_millis", lease().toMillis());
  }

  @Override
  public BatchCounts batches() {
    return database.batches().counts();
  }

  @Override
  public ConnectionCounts connectionCounts() {
    return settings.connections().counts();
  }

  @Override
  public Duration lease() {
    return database.lease();
  }

  @Override
  public void close() {
    watch.close();
    settings.connections().close();
  }

  @Override
  StoreConnections connections() {
    return settings.connections();
  }

  @Override
  String schema() {
    return settings.schema();
  }
}
