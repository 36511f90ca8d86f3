package io.github.grpcidempotency.pages;

import com.google.protobuf.ByteString;
import com.google.protobuf.StringValue;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.spi.RecordedProcedure;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import javax.sql.DataSource;

/** What is recorded in a shop: a create with its order, and a create whose server is gone. */
final class Records {
  static final UUID USER = UUID.fromString("00000000-0000-4000-8000-00000000cafe");
  static final ResourceId ORDER = ResourceId.of("019303cd-3f00-7000-8000-0000000000aa");

  /** The operation whose server is gone, as the pages call it. */
  static final UUID STUCK = UUID.fromString("019303cd-3f00-7000-8000-000000000001");

  static final ByteString ANSWER = ByteString.copyFromUtf8("the order");

  private static final RecordedProcedure CREATE =
      RecordedProcedure.of(
          Procedure.named("shop.v1.Orders/CreateOrder")
              .resource(ResourceType.of("order"), "id")
              .build());

  private Records() {}

  /** Makes both, as the application. */
  static void make(Shop shop) throws SQLException {
    PostgresIdempotencyStore store = store(shop.connect("shop_app", "shop"));
    execute(
        shop.connect("superuser", "shop"),
        "INSERT INTO app.orders VALUES (?, ?, 'a lamp')",
        ORDER.asUuid(),
        USER);
    Claim.Settled unused =
        claim(store, key("answered"))
            .complete(new RecordedOutcome.Response(ANSWER, Optional.of(ORDER)));
    execute(
        shop.connect("superuser", "shop"),
        "UPDATE idempotency.idempotency_keys SET lease_expires = now() - interval '1 minute',"
            + " created = now() - interval '1 minute', id = ? WHERE id = ?",
        STUCK,
        claim(store, key("stuck")).operationId());
  }

  /** Makes those that the page of personal data erases, as the application. */
  static void makePersonal(Shop shop) {
    PostgresIdempotencyStore store = store(shop.connect("shop_app", "shop"));
    for (Caller caller :
        List.of(Caller.ofSubject("auth0|65a1f0"), Caller.of(USER).inTenant("acme"))) {
      Claim.Settled unused =
          claim(store, new IdempotencyKey(caller, "personal"))
              .complete(new RecordedOutcome.Response(ANSWER, Optional.empty()));
    }
  }

  /** Returns what a retry of the answered call is told. */
  static Optional<ClaimResult> replayed(DataSource app) {
    PostgresIdempotencyStore store = store(app);
    store.verify(List.of(CREATE), Optional.empty());
    store.verifyTransactions();
    return store.find(key("answered"), CREATE);
  }

  private static PostgresIdempotencyStore store(DataSource app) {
    return PostgresIdempotencyStore.builder(app).build();
  }

  private static Claim claim(PostgresIdempotencyStore store, IdempotencyKey key) {
    ClaimRequest request =
        ClaimRequest.of(
                key,
                CREATE,
                Fingerprinter.wholeRequest().fingerprint(StringValue.getDefaultInstance()))
            .retainedFor(Duration.ofDays(1));
    return ((ClaimResult.Won) store.claim(request)).claim();
  }

  private static IdempotencyKey key(String key) {
    return new IdempotencyKey(Caller.of(USER), key);
  }

  private static void execute(DataSource dataSource, String sql, Object... values)
      throws SQLException {
    try (Connection connection = dataSource.getConnection();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < values.length; i++) {
        statement.setObject(i + 1, values[i]);
      }
      statement.execute();
    }
  }
}
