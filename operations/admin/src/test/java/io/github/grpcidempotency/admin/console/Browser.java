package io.github.grpcidempotency.admin.console;

import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.test.Program;
import java.nio.file.Path;
import java.time.Duration;
import org.openqa.selenium.By;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;

/** A headless Chromium. Elements are named by XPath. */
final class Browser implements AutoCloseable {
  private final ChromeDriver driver;

  private Browser(ChromeDriver driver) {
    this.driver = driver;
  }

  /**
   * Starts one.
   *
   * @param profile an empty folder
   */
  static Browser start(Path profile) {
    ChromeOptions options = new ChromeOptions().setBinary(Program.CHROMIUM.path().toFile());
    options.addArguments(
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--window-size=1280,900",
        "--user-data-dir=" + profile);
    return new Browser(
        new ChromeDriver(
            new ChromeDriverService.Builder()
                .usingDriverExecutable(Program.CHROMEDRIVER.path().toFile())
                .build(),
            options));
  }

  void open(String address) {
    driver.get(address);
  }

  String address() {
    return driver.getCurrentUrl();
  }

  String title() {
    return driver.getTitle();
  }

  /** Returns what is to be read on the page. */
  String text() {
    return text("//main");
  }

  String text(String xpath) {
    return find(xpath).getText();
  }

  int count(String xpath) {
    return driver.findElements(By.xpath(xpath)).size();
  }

  void click(String xpath) {
    find(xpath).click();
  }

  void clickLink(String text) {
    load(() -> click("//a[normalize-space(.) = '%s']".formatted(text)));
  }

  void clickButton(String text) {
    load(() -> click("//button[normalize-space(.) = '%s']".formatted(text)));
  }

  /** Does something that leads to another page, and waits for that page. */
  void load(Runnable action) {
    script("window.left = true;");
    action.run();
    await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(10))
        .ignoreExceptions()
        .until(
            () ->
                "true"
                    .equals(script("return !window.left && document.readyState === 'complete';")));
  }

  void type(String xpath, String text) {
    find(xpath).sendKeys(text);
  }

  /** Types into whatever has the focus. */
  void press(CharSequence... keys) {
    driver.switchTo().activeElement().sendKeys(keys);
  }

  /** Returns what has the focus: the text of a link or button, or the name of a field. */
  String focused() {
    return script(
        "const e = document.activeElement;"
            + " return e.name || (e.textContent || '').trim() || e.tagName;");
  }

  /** Runs a script, and returns what it returns, as text. */
  String script(String script) {
    return String.valueOf(driver.executeScript(script));
  }

  @Override
  public void close() {
    driver.quit();
  }

  private WebElement find(String xpath) {
    return driver.findElement(By.xpath(xpath));
  }
}
