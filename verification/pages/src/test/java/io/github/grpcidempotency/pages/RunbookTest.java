package io.github.grpcidempotency.pages;

import static io.github.grpcidempotency.test.Program.PYTHON3;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.test.NeedsProgram;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.sql.SQLException;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every command of the pages for operators works, in the order of the page. */
class RunbookTest {
  static final Page SET_UP = Page.read("operations/set-up.md");

  /** Its other sections have tests of their own. */
  private static final Page MAINTENANCE = Page.read("operations/maintenance.md");

  private static final Set<String> OWN_TESTS =
      Set.of(SET_UP.name(), MAINTENANCE.name(), "operations/partitions.md", "operations/rights.md");

  private static final byte[] SECRET = "a secret of the logs".getBytes(StandardCharsets.UTF_8);
  private static final String KEY = "team-a:019303cd-3f00-7000-8000-000000000001";

  private static Shop shop;

  /** One for all pages that leave it as it is. */
  @BeforeAll
  static void setUp(@TempDir Path directory) throws SQLException {
    shop = new Shop(RunbookServer.embedded(), directory);
    shop.run(SET_UP);
    Records.make(shop);
    Records.makePersonal(shop);
    shop.set("IDEMPOTENCY_USER", shop.mapped("shop_operator"));
  }

  /** Every page for operators, but those that have a test of their own. */
  static Stream<String> pages() {
    return Page.names("operations").stream().filter(name -> !OWN_TESTS.contains(name));
  }

  @ParameterizedTest
  @MethodSource("pages")
  void everyCommandOfAPageWorks(String name) {
    shop.run(Page.read(name));
  }

  @Test
  void everyCommandOfAnUpgradeWorks() {
    shop.run(MAINTENANCE.section("Upgrades"));
  }

  @Test
  @NeedsProgram(PYTHON3)
  void aKeyIsFoundInTheLogsByItsHash(@TempDir Path directory) throws GeneralSecurityException {
    Shop own = new Shop(RunbookServer.embedded(), directory); // the page replaces a role
    own.run(SET_UP);
    own.set("TENANT", "acme");
    own.set("PROJECT", "apollo");
    own.set("KEY", KEY);
    own.set("KEY_HASH_SECRET", HexFormat.of().formatHex(SECRET));

    List<String> said = own.run(Page.read("operations/rights.md"));

    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(SECRET, "HmacSHA256"));
    String hash =
        HexFormat.of()
            .formatHex(mac.doFinal(("acme\0apollo\0" + KEY).getBytes(StandardCharsets.UTF_8)));
    assertThat(said.get(0)).isEqualToIgnoringNewLines(hash.substring(0, 16));
  }

  @Test
  void aTableInPartitionsAnswersAsBefore(@TempDir Path directory) throws SQLException {
    Shop own = new Shop(RunbookServer.embedded(), directory);
    own.run(SET_UP);
    Records.make(own);

    own.run(Page.read("operations/partitions.md"));

    assertThat(Records.replayed(own.connect("shop_app", "shop"))).isPresent();
  }
}
