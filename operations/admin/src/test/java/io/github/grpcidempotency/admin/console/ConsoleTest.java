package io.github.grpcidempotency.admin.console;

import static io.github.grpcidempotency.test.Program.CHROMEDRIVER;
import static io.github.grpcidempotency.test.Program.CHROMIUM;
import static org.assertj.core.api.Assertions.assertThat;
import static org.openqa.selenium.Keys.ENTER;
import static org.openqa.selenium.Keys.TAB;

import io.github.grpcidempotency.admin.Act;
import io.github.grpcidempotency.admin.ActResult;
import io.github.grpcidempotency.admin.Administration;
import io.github.grpcidempotency.test.NeedsProgram;
import io.github.grpcidempotency.testing.PostgresFixture;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * The console as a person uses it, in a real browser. The profile runs the tests of what else a
 * person does.
 */
@NeedsProgram({CHROMEDRIVER, CHROMIUM})
class ConsoleTest {
  private static final String CREATE_ORDER = "shop.v1.OrderService/CreateOrder";

  @RegisterExtension static final PostgresFixture database = ConsoleShop.DATABASES.create();
  private static Browser browser;
  private static Administration administration;

  private final ConsoleShop shop = new ConsoleShop(database);
  private Console console;

  @BeforeAll
  static void start(@TempDir Path profile) {
    browser = Browser.start(profile);
    administration = new ConsoleShop(database).administration();
  }

  @AfterAll
  static void end() {
    browser.close();
  }

  @BeforeEach
  void open() throws IOException {
    console = ConsoleShop.open(administration);
  }

  @AfterEach
  void close() {
    console.close();
  }

  @Test
  void aStuckOperationIsSeenExplainedAndFreedWithAReason() {
    UUID id = shop.row(CREATE_ORDER).key("k-17").in("acme", "apollo").stuck().insert();
    shop.row("shop.v1.OrderService/CancelOrder").running().insert();
    visit("");

    assertThat(browser.text("//dl[@class='numbers']")).contains("In flight\n2", "Stuck\n1");
    assertThat(browser.count("//tbody/tr")).isEqualTo(2);
    browser.clickLink("Stuck");
    assertThat(browser.count("//tbody/tr")).isEqualTo(1);
    assertThat(browser.text("//tbody/tr"))
        .contains("stuck", CREATE_ORDER, "acme apollo", "orders-7c9f:4711", "4 min");

    browser.clickLink(id.toString());
    assertThat(browser.text()).contains("The lease has ended without an outcome", "k-17");
    browser.type("//textarea", "OPS-12: its server was scaled in");
    browser.clickButton("See what would happen");
    assertThat(browser.text())
        .contains(
            "The next call with its key would run the handler", "OPS-12: its server was scaled in");
    assertThat(shop.exists(id)).isTrue();

    browser.clickButton("Free the reservation");
    assertThat(browser.text("//p[@role='status']")).isEqualTo("Freed.");
    assertThat(browser.text()).contains("This operation no longer has a record");
    assertThat(browser.text("//tbody/tr"))
        .contains("ann", "free", "OPS-12: its server was scaled in", "shop_operator");
    assertThat(shop.exists(id)).isFalse();

    browser.clickLink("Audit");
    assertThat(browser.text("//tbody/tr")).contains(id.toString(), "ann", "free");
  }

  @Test
  void anOperationIsFoundByItsKeyWhichStaysOutOfTheAddress() {
    UUID inTenant = shop.row(CREATE_ORDER).key("0B4F7E1C-key").in("acme", "apollo").insert();
    UUID elsewhere = shop.row(CREATE_ORDER).key("018f3a1e-aaaa-7000-8000-000000000001").insert();
    visit("");

    find("018F3A1E-AAAA-7000-8000-000000000001", "");
    assertThat(browser.address()).endsWith("operation?id=" + elsewhere);

    visit("");
    find("0B4F7E1C-key", "acme");
    assertThat(browser.address()).endsWith("operation?id=" + inTenant).doesNotContain("0B4F7E1C");
    assertThat(browser.text())
        .contains("completed", "321 bytes", "0B4F7E1C-key", ConsoleShop.USER, "abcdef");

    visit("");
    find(inTenant.toString(), "");
    assertThat(browser.address()).endsWith("operation?id=" + inTenant);

    visit("");
    find("0B4F7E1C-key", "");
    assertThat(browser.address()).endsWith("operation?id=" + inTenant);

    visit("");
    find("0B4F7E1C-key", "umbrella");
    assertThat(browser.text("//p[@role='alert']")).contains("There is no record with this");

    shop.row(CREATE_ORDER).key("order-17").insert();
    visit("");
    find("Order-17", "");
    assertThat(browser.text("//p[@role='alert']")).contains("There is no record with this");
  }

  @Test
  void aRunningTransactionIsFoundByItsKeyAndUser() {
    shop.whileLocked(
        "k-20",
        process -> {
          visit("");
          find("k-20", "");
          assertThat(browser.text("//p[@role='alert']")).contains("There is no record with this");

          browser.type("//input[@name='key']", "k-20");
          browser.type(
              "//section[@aria-labelledby='search']//input[@name='user']", ConsoleShop.USER);
          browser.clickButton("Find");
          assertThat(browser.text("//p[@role='status']"))
              .contains("A transaction with this key is running: process " + process);
        });
  }

  @Test
  void theHistoryOfAKeyIsShownAfterItWasFreedAndRanAgain() {
    UUID first =
        shop.row(CREATE_ORDER).key("k-18").in("acme", "apollo").server("gone:1").stuck().insert();
    assertThat(administration.free(first, new Act("ann", "OPS-13"), false, false))
        .isEqualTo(ActResult.DONE);
    UUID second = shop.row(CREATE_ORDER).key("k-18").in("acme", "apollo").insert();

    visit("operation?id=" + second);
    assertThat(browser.text("//section[@aria-labelledby='history']"))
        .contains(
            "free",
            "OPS-13",
            first.toString(),
            "attempt 1 in tenant acme in project apollo on gone:1");
    assertThat(administration.forget(second, new Act("ann", "OPS-14"), false))
        .isEqualTo(ActResult.DONE);
    visit("");
    find("k-18", "");
    assertThat(browser.text("//section[@aria-labelledby='history']"))
        .contains("OPS-13", "OPS-14", first.toString(), second.toString(), ConsoleShop.USER);
  }

  @Test
  void theHistoryOfAKeyIsThatOfOneUser() {
    UUID others = shop.row(CREATE_ORDER).key("k-19").in("acme", "apollo").stuck().insert();
    shop.execute("UPDATE idempotency.idempotency_keys SET user_uuid = gen_random_uuid()");
    assertThat(administration.free(others, new Act("ann", "OPS-17"), false, false))
        .isEqualTo(ActResult.DONE);
    UUID id = shop.row(CREATE_ORDER).key("k-19").in("acme", "apollo").insert();

    visit("operation?id=" + id);
    assertThat(browser.text()).contains("k-19").doesNotContain("OPS-17", others.toString());
    visit("");
    find("k-19", "");
    assertThat(browser.text()).contains(id.toString(), "OPS-17", others.toString());
  }

  @Test
  void aListIsFilteredByUserServerAndTime() {
    UUID here = shop.row(CREATE_ORDER).server("a:1").stuck().insert();
    UUID there = shop.row(CREATE_ORDER).server("b:2").age("3 hours").stuck().insert();

    visit("?server=a:1");
    assertThat(browser.text("//tbody")).contains(here.toString()).doesNotContain(there.toString());
    visit("?older_than=2h&user=" + ConsoleShop.USER);
    assertThat(browser.text("//tbody")).contains(there.toString()).doesNotContain(here.toString());
    visit("?newer_than=2h");
    assertThat(browser.text("//tbody")).contains(here.toString()).doesNotContain(there.toString());
    visit("?user=auth0%7Cnobody");
    assertThat(browser.count("//tbody/tr")).isZero();
    assertThat(browser.text()).contains("No operation matches");
    visit("?view=stuck&server=c:3");
    assertThat(browser.text())
        .contains("No operation matches")
        .doesNotContain("Nothing is stuck", "There are no records");
    visit("?newer_than=soon");
    assertThat(browser.text("//p[@role='alert']")).contains("A duration is a number and a unit");
  }

  @Test
  void theAuditIsSearchedByActorActAndTimeAndIsNotClipped() {
    UUID id = shop.row(CREATE_ORDER).running().insert();
    Act act =
        new Act("ann@console-1.ops.shop.example", "OPS-15: " + "its server is gone ".repeat(9));
    assertThat(administration.free(id, act, false, false)).isEqualTo(ActResult.OWNER_LIVES);
    assertThat(administration.free(id, act, true, false)).isEqualTo(ActResult.DONE);

    visit("audit?act=free&actor=" + act.actor());
    assertThat(browser.count("//tbody/tr")).isEqualTo(2);
    assertThat(
            browser.script(
                "const table = document.querySelector('.scroll');"
                    + " return table.scrollWidth - table.clientWidth;"))
        .isEqualTo("0");
    visit("audit?act=freed");
    assertThat(browser.text("//p[@role='alert']")).contains("or sweep, not freed");
    visit("audit?act=forget&actor=" + act.actor());
    assertThat(browser.text()).contains("No operator has done anything that matches");
    visit("audit?until=2020-01-01T00:00&actor=" + act.actor());
    assertThat(browser.count("//tbody/tr")).isZero();
    visit("audit?since=2020-01-01T00:00&actor=" + act.actor());
    assertThat(browser.count("//tbody/tr")).isEqualTo(2);
  }

  @Test
  void figuresStayInTheirTilesAndTheFieldsOfARowHaveOneHeight() {
    shop.row(CREATE_ORDER).age("23 hours 59 minutes").stuck().insert();
    for (String page : List.of("", "audit")) {
      visit(page);
      assertThat(
              browser.script(
                  "return Array.from(document.querySelectorAll('.numbers dd'))"
                      + ".filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent).join()"))
          .isEmpty();
      assertThat(
              browser.script(
                  "return new Set(Array.from(document.querySelectorAll('.row label'))"
                      + ".map(e => e.getBoundingClientRect().height)).size"))
          .isEqualTo("1");
    }
  }

  /** The rule landmark-unique of axe: no two landmarks have the same role and name. */
  @Test
  void eachLandmarkHasANameOfItsOwn() {
    UUID id = shop.row(CREATE_ORDER).stuck().insert();
    assertThat(administration.forget(id, new Act("ann", "OPS-16"), false))
        .isEqualTo(ActResult.NOT_RECORDED);
    for (String page : List.of("", "audit", "operation?id=" + id)) {
      visit(page);
      List<String> landmarks =
          List.of(
              browser
                  .script(
                      "const name = e => e.getAttribute('aria-label') ||"
                          + " (document.getElementById(e.getAttribute('aria-labelledby')) ||"
                          + " {textContent: ''}).textContent;"
                          + " return Array.from(document.querySelectorAll('header, nav, main,"
                          + " footer, section[aria-labelledby], form[aria-label], [role=region]'))"
                          + " .map(e => (e.getAttribute('role') || e.tagName).replace('SECTION',"
                          + " 'region') + ' ' + name(e)).join(';');")
                  .split(";"));
      assertThat(landmarks).hasSizeGreaterThan(2).doesNotHaveDuplicates();
    }
  }

  @Test
  void aTraceLinksToTheToolThatShowsIt() throws IOException {
    UUID id = shop.row(CREATE_ORDER).stuck().insert();
    shop.execute(
        "UPDATE idempotency.idempotency_keys"
            + " SET trace = '\\x000af7651916cd43dd8448eb211c80319cb7ad6b716920333101'");
    console.close();
    console =
        Console.start(
            administration, "ann", 0, true, Optional.of("https://jaeger.internal/trace/{trace}"));
    visit("operation?id=" + id);

    assertThat(
            browser.count(
                "//a[@href='https://jaeger.internal/trace/0af7651916cd43dd8448eb211c80319c']"))
        .isEqualTo(1);
  }

  @Test
  @Tag("torture")
  void anActWithoutAReasonIsRefused() {
    UUID id = shop.row(CREATE_ORDER).stuck().insert();
    visit("operation?id=" + id);
    browser.click("//button");
    assertThat(browser.script("return document.activeElement.name")).isEqualTo("reason");
    assertThat(browser.address()).endsWith("operation?id=" + id);

    browser.type("//textarea", "   ");
    browser.clickButton("See what would happen");

    assertThat(browser.text("//p[@role='alert']")).startsWith("Give a reason");
    assertThat(browser.count("//textarea[@aria-describedby='problem']")).isEqualTo(1);
    assertThat(shop.exists(id)).isTrue();
  }

  @Test
  void aLiveReservationIsProtectedUnlessTheUserForcesIt() {
    UUID id = shop.row(CREATE_ORDER).running().insert();
    visit("operation?id=" + id);
    browser.type("//textarea", "it hangs");
    browser.clickButton("See what would happen");

    assertThat(browser.text("//p[@role='alert']")).contains("The lease has not ended");
    assertThat(browser.script("return document.querySelector('textarea').value"))
        .isEqualTo("it hangs");
    browser.click("//input[@type='checkbox']");
    browser.clickButton("See what would happen");
    assertThat(browser.text()).contains("although its handler may still be running");
    browser.clickButton("Free the reservation");

    assertThat(shop.exists(id)).isFalse();
    assertThat(browser.text("//tbody/tr")).contains("free, although its lease had not ended");
  }

  @Test
  @Tag("torture")
  void aRecordIsForgotten() {
    UUID id = shop.row(CREATE_ORDER).failed().insert();
    visit("operation?id=" + id);
    browser.type("//textarea", "the quota was raised");
    browser.clickButton("See what would happen");
    assertThat(browser.text()).contains("would run the handler again");
    browser.clickLink("Cancel");
    assertThat(shop.exists(id)).isTrue();
    browser.type("//textarea", "the quota was raised");
    browser.clickButton("See what would happen");
    browser.clickButton("Forget the record");

    assertThat(browser.text("//p[@role='status']")).isEqualTo("Forgotten.");
    assertThat(shop.exists(id)).isFalse();
    assertThat(shop.done(id)).isEqualTo(1);
  }

  @Test
  @Tag("torture")
  void aChangeMeanwhileIsReported() {
    UUID id = shop.row(CREATE_ORDER).stuck().insert();
    visit("operation?id=" + id);
    browser.type("//textarea", "too late");
    browser.clickButton("See what would happen");
    shop.execute(
        "UPDATE idempotency.idempotency_keys SET completed = now(), response_bytes = '\\x00'");
    browser.clickButton("Free the reservation");

    assertThat(browser.text("//p[@role='alert']")).contains("has been recorded meanwhile");
    assertThat(shop.exists(id)).isTrue();
  }

  @Test
  void textFromClientsIsShownAndNotExecuted() {
    String hostile = "</code><script>document.title='owned'</script><img src=x onerror=alert(1)>";
    UUID id = shop.row(hostile).key("a\"b/'c:" + hostile).server(hostile).stuck().insert();
    visit("?procedure=" + "%3Cscript%3Edocument.title%3D1%3C%2Fscript%3E%22%3E%3Cimg%20src%3Dx%3E");
    assertNothingForeign();
    visit("");
    assertThat(browser.text("//tbody/tr")).contains(hostile);
    assertNothingForeign();

    browser.clickLink(id.toString());
    assertThat(browser.text()).contains(hostile);
    assertNothingForeign();
    browser.type("//textarea", "\"'>" + hostile);
    browser.clickButton("See what would happen");
    assertThat(browser.text()).contains("\"'>" + hostile);
    assertNothingForeign();
    browser.clickButton("Free the reservation");
    assertThat(browser.text("//tbody/tr")).contains("\"'>" + hostile);
    assertNothingForeign();
  }

  private static void assertNothingForeign() {
    assertThat(browser.title()).endsWith("· Idempotency");
    assertThat(browser.count("//script | //img | //*[@onerror]")).isZero();
  }

  /** Even if something had gone in unescaped, the browser would not run it. */
  @Test
  void theBrowserRunsNoScriptOnThePage() {
    visit("");
    browser.script(
        "const s = document.createElement('script');"
            + "s.textContent = 'document.title = 1';"
            + "document.body.append(s);");

    assertThat(browser.title()).isEqualTo("Operations · Idempotency");
  }

  @Test
  void aKeyIsHiddenUnlessTheConsoleShowsKeys() throws IOException {
    UUID id = shop.row(CREATE_ORDER).key("k-secret").stuck().insert();
    console.close();
    console = Console.start(administration, "ann", 0, false, Optional.empty());
    visit("operation?id=" + id);

    assertThat(browser.text())
        .contains(CREATE_ORDER, "stuck", "this console is set to show no keys");
    assertThat(browser.text()).doesNotContain("k-secret");
  }

  @Test
  @Tag("torture")
  void anOperationIsFoundAndFreedByKeyboardAlone() {
    UUID id = shop.row(CREATE_ORDER).stuck().insert();
    visit("");
    browser.press(TAB);
    assertThat(browser.focused()).isEqualTo("Skip to the content");
    browser.press(ENTER, TAB);
    assertThat(browser.focused()).isEqualTo("key");
    browser.load(() -> browser.press(id.toString(), ENTER));
    assertThat(browser.address()).endsWith("operation?id=" + id);
    tabTo("reason");
    browser.press("by keyboard", TAB);
    browser.load(() -> browser.press(ENTER));
    tabTo("Free the reservation");
    browser.load(() -> browser.press(ENTER));

    assertThat(browser.text("//p[@role='status']")).isEqualTo("Freed.");
    assertThat(shop.exists(id)).isFalse();
  }

  @Test
  @Tag("torture")
  void aLongListHasPages() {
    for (int i = 0; i < 60; i++) {
      shop.row(CREATE_ORDER).insert();
    }
    shop.row("shop.v1.OrderService/Other").insert();
    visit("?view=all&procedure=shop.v1.OrderService/CreateOrder");
    assertThat(browser.count("//tbody/tr")).isEqualTo(50);
    browser.clickLink("More");

    assertThat(browser.count("//tbody/tr")).isEqualTo(10);
    assertThat(browser.text("//tbody")).doesNotContain("Other");
  }

  private static void tabTo(String target) {
    for (int i = 0; i < 20 && !browser.focused().equals(target); i++) {
      browser.press(TAB);
    }
    assertThat(browser.focused()).isEqualTo(target);
  }

  private static void find(String key, String tenant) {
    browser.type("//input[@name='key']", key);
    browser.type("//section[.//input[@name='key']]//input[@name='tenant']", tenant);
    browser.clickButton("Find");
  }

  private void visit(String page) {
    String login = "http://ann:" + console.password() + "@";
    browser.open(console.uri().toString().replace("http://", login) + page);
  }
}
