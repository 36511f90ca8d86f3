package io.github.grpcidempotency.runbook.console;

import static org.awaitility.Awaitility.await;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A headless Chromium, driven over the W3C WebDriver protocol. Elements are named by XPath. */
final class Browser implements AutoCloseable {
  private static final Path DRIVER = Path.of("/usr/bin/chromedriver");
  private static final Pattern PORT = Pattern.compile("started successfully on port (\\d+)");
  private static final String ELEMENT = "element-6066-11e4-a52e-4f735466cecf";
  private static final List<String> FLAGS =
      List.of(
          "--headless",
          "--no-sandbox",
          "--disable-gpu",
          "--disable-quic",
          "--disable-dev-shm-usage",
          "--no-first-run",
          "--disable-background-networking",
          "--disable-component-update",
          "--disable-sync",
          "--hide-scrollbars",
          "--window-size=1280,900");

  private final Gson gson = new Gson();
  private final HttpClient http = HttpClient.newHttpClient();
  private final Process driver;
  private final String session;

  private Browser(Process driver, int port, Path profile) {
    this.driver = driver;
    String root = "http://localhost:" + port + "/session";
    List<String> flags = new ArrayList<>(FLAGS);
    flags.add("--user-data-dir=" + profile);
    Map<String, Object> options = Map.of("args", flags);
    Map<String, Object> capabilities = Map.of("alwaysMatch", Map.of("goog:chromeOptions", options));
    this.session =
        root
            + "/"
            + call("POST", root, Map.of("capabilities", capabilities))
                .getAsJsonObject()
                .get("sessionId")
                .getAsString();
  }

  static boolean isInstalled() {
    return Files.isExecutable(DRIVER) && Files.isExecutable(Path.of("/usr/bin/chromium"));
  }

  /**
   * Starts one.
   *
   * @param profile an empty folder
   */
  static Browser start(Path profile) throws IOException {
    Process driver =
        new ProcessBuilder(DRIVER.toString(), "--port=0").redirectErrorStream(true).start();
    BufferedReader output = driver.inputReader();
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      Matcher started = PORT.matcher(line);
      if (started.find()) {
        drain(output);
        return new Browser(driver, Integer.parseInt(started.group(1)), profile);
      }
    }
    throw new IOException("chromedriver has not started");
  }

  void open(String address) {
    post("/url", Map.of("url", address));
  }

  String address() {
    return get("/url").getAsString();
  }

  String title() {
    return get("/title").getAsString();
  }

  /** Returns what is to be read on the page. */
  String text() {
    return text("//main");
  }

  String text(String xpath) {
    return get("/element/" + find(xpath) + "/text").getAsString();
  }

  int count(String xpath) {
    return post("/elements", Map.of("using", "xpath", "value", xpath)).getAsJsonArray().size();
  }

  void click(String xpath) {
    post("/element/" + find(xpath) + "/click", Map.of());
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
                script("return !window.left && document.readyState === 'complete';")
                    .getAsBoolean());
  }

  void type(String xpath, String text) {
    post("/element/" + find(xpath) + "/value", Map.of("text", text));
  }

  /** Types into whatever has the focus. */
  void press(String keys) {
    String focused = get("/element/active").getAsJsonObject().get(ELEMENT).getAsString();
    post("/element/" + focused + "/value", Map.of("text", keys));
  }

  /** Returns what has the focus: the text of a link or button, or the name of a field. */
  String focused() {
    return script(
            "const e = document.activeElement;"
                + " return e.name || (e.textContent || '').trim() || e.tagName;")
        .getAsString();
  }

  JsonElement script(String script) {
    return post("/execute/sync", Map.of("script", script, "args", List.of()));
  }

  void resize(int width, int height) {
    post("/window/rect", Map.of("width", width, "height", height));
  }

  byte[] screenshot() {
    return Base64.getDecoder().decode(get("/screenshot").getAsString());
  }

  @Override
  public void close() {
    try {
      call("DELETE", session, Map.of());
    } finally {
      driver.destroy();
      driver.onExit().orTimeout(10, TimeUnit.SECONDS).join();
    }
  }

  private String find(String xpath) {
    return post("/element", Map.of("using", "xpath", "value", xpath))
        .getAsJsonObject()
        .get(ELEMENT)
        .getAsString();
  }

  private JsonElement get(String path) {
    return call("GET", session + path, Map.of());
  }

  private JsonElement post(String path, Map<String, Object> parameters) {
    return call("POST", session + path, parameters);
  }

  private JsonElement call(String method, String address, Map<String, Object> parameters) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(address))
            .method(
                method,
                method.equals("POST")
                    ? HttpRequest.BodyPublishers.ofString(gson.toJson(parameters))
                    : HttpRequest.BodyPublishers.noBody())
            .build();
    try {
      HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
      JsonObject body = JsonParser.parseString(response.body()).getAsJsonObject();
      if (response.statusCode() != 200) {
        throw new AssertionError(body.getAsJsonObject("value").get("message").getAsString());
      }
      return body.get("value");
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(interrupted);
    }
  }

  /** A full pipe would stop the driver. */
  private static void drain(BufferedReader output) {
    Thread reader =
        new Thread(
            () -> {
              try {
                while (output.readLine() != null) {
                  // nobody reads it
                }
              } catch (IOException ended) {
                // with the driver
              }
            },
            "chromedriver output");
    reader.setDaemon(true);
    reader.start();
  }
}
