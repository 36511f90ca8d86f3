package io.github.grpcidempotency.runbook.console;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.console.Console;
import io.github.grpcidempotency.console.ConsoleAccess;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.RecordedProcedure;
import io.github.grpcidempotency.testing.PostgresFixture;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Draws the picture of the how-to page anew, from records that the store has made: {@code mvn
 * verify -pl console -am -Dtest=PictureTest -Dsurefire.failIfNoSpecifiedTests=false
 * -Dconsole.picture=true}.
 */
@EnabledIfSystemProperty(named = "console.picture", matches = "true")
class PictureTest {
  private static final Path PICTURE = Path.of("..", "docs", "how-to", "console.png");
  private static final Caller APOLLO =
      Caller.of(UUID.randomUUID()).inTenant("acme").inProject("apollo");
  private static final Caller GLOBEX = Caller.of(UUID.randomUUID()).inTenant("globex");
  private static final String CREATE_PROJECT = "organization.v1.OrganizationService/CreateProject";
  private static final String CREATE_CLUSTER = "organization.v1.ClusterService/CreateCluster";
  private static final String INVITE = "organization.v1.InviteService/InviteMember";

  @RegisterExtension static final PostgresFixture database = Shop.DATABASES.create();

  @Test
  void draw(@TempDir Path profile) throws Exception {
    Shop shop = new Shop(database);
    shop.execute("SELECT idempotency.grant_to('shop_app')");
    PostgresIdempotencyStore alive = store("api-6f4d-x2x9k:1", Duration.ofSeconds(30));
    PostgresIdempotencyStore dying = store("api-6f4d-m8w2p:1", Duration.ofMillis(100));
    claim(dying, CREATE_CLUSTER, GLOBEX);
    for (int i = 0; i < 400; i++) {
      claim(alive, i % 3 == 0 ? INVITE : CREATE_PROJECT, i % 5 == 0 ? GLOBEX : APOLLO)
          .complete(
              new RecordedOutcome.Response(ByteString.copyFrom(new byte[200]), Optional.empty()));
    }
    shop.execute("ANALYZE idempotency.idempotency_keys");
    claim(alive, INVITE, APOLLO).markUnknown();
    claim(alive, CREATE_PROJECT, APOLLO);
    claim(alive, CREATE_CLUSTER, APOLLO);
    claim(alive, CREATE_PROJECT, GLOBEX);

    try (Browser browser = Browser.start(profile);
        Console console =
            Console.builder(
                    shop.administration(), ConsoleAccess.password("ann", Shop.PASSWORD, Shop.ALL))
                .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .start()) {
      browser.resize(1400, 960);
      browser.open(
          console
              .uri()
              .toString()
              .replace("//", "//ann:" + Shop.PASSWORD.replace(" ", "%20") + "@"));
      assertThat(browser.count("//tbody/tr")).isEqualTo(5);
      Files.write(PICTURE, browser.screenshot());
    }
  }

  private static PostgresIdempotencyStore store(String server, Duration lease) {
    return PostgresIdempotencyStore.builder(database.pool())
        .lease(lease)
        .serverName(server)
        .build();
  }

  private static Claim claim(PostgresIdempotencyStore store, String procedure, Caller caller) {
    ClaimRequest request =
        new ClaimRequest(
            new IdempotencyKey(caller, UUID.randomUUID().toString()),
            new RecordedProcedure(
                procedure, Optional.empty(), false, Optional.empty(), true, false),
            new Fingerprint(1, ByteString.copyFrom(new byte[32])),
            Duration.ofDays(1));
    return ((ClaimResult.Won) store.claim(request)).claim();
  }
}
