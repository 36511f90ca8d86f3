package io.github.grpcidempotency.cli.runbook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.sql.SQLException;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every command of the pages for operators works, in the order in which they tell it. */
class RunbookTest {
  static final Page SET_UP = Page.read("operations/set-up.md");

  private static final byte[] SECRET = "a secret of the logs".getBytes(StandardCharsets.UTF_8);
  private static final String KEY = "team-a:019303cd-3f00-7000-8000-000000000001";

  @TempDir private Path directory;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "operations/failover.md",
        "operations/rights.md",
        "operations/rotation.md",
        "operations/sizing.md",
        "operations/uninstalling.md",
        "operations/upgrades.md",
        "runbook/alerts.md",
      })
  void everyCommandOfAPageWorks(String name) throws SQLException {
    assumeTrue(Page.exists(name), "there is no such page");
    Shop shop = new Shop(RunbookServer.embedded(), directory);
    shop.run(SET_UP);
    UUID stuck = Records.make(shop);
    shop.set("OPERATION", stuck.toString());
    shop.set("IDEMPOTENCY_REASON", "a test");
    shop.set("NAMESPACED_KEY", KEY);
    shop.set("KEY_HASH_SECRET", HexFormat.of().formatHex(SECRET));

    shop.run(Page.read(name));
  }

  @Test
  void aKeyIsFoundInTheLogsByItsHash() throws GeneralSecurityException, SQLException {
    Shop shop = new Shop(RunbookServer.embedded(), directory);
    shop.run(SET_UP);
    shop.set("NAMESPACED_KEY", KEY);
    shop.set("KEY_HASH_SECRET", HexFormat.of().formatHex(SECRET));

    List<String> said = shop.run(Page.read("operations/rotation.md"));

    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(SECRET, "HmacSHA256"));
    String hash = HexFormat.of().formatHex(mac.doFinal(KEY.getBytes(StandardCharsets.UTF_8)));
    assertThat(said.get(0)).isEqualToIgnoringNewLines(hash.substring(0, 16));
  }

  @Test
  void everyPageThatHasCommandsIsRun() {
    assertThat(SET_UP.blocks()).hasSizeGreaterThan(3);
    assertThat(Page.read("operations/backups.md").blocks()).hasSizeGreaterThan(3);
  }
}
