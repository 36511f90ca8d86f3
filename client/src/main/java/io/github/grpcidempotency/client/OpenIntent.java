package io.github.grpcidempotency.client;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An intent of a {@link FileIntentStore} that is not done, and the lines that describe it. Leases
 * are not written: only the process that has the file open can hold one.
 */
final class OpenIntent {
  private static final String INTENT = "intent";
  private static final String SENT = "sent";
  private static final String LATER = "later";
  private static final String ANSWER = "answer";
  private static final String DONE = "done";

  private final Intent intent;
  private final Route route;
  private final ByteString request;
  private final Instant written;
  private int attempts;
  private long fence;
  private Instant due = Instant.EPOCH;
  private Instant leaseEnd = Instant.EPOCH;
  private Optional<Instant> firstSent = Optional.empty();
  private Optional<ByteString> answer = Optional.empty();

  OpenIntent(Intent intent, Route route, ByteString request, Instant written) {
    this.intent = intent;
    this.route = route;
    this.request = request;
    this.written = written;
  }

  /** Returns the intents that a file's lines leave open. */
  static Map<String, OpenIntent> replay(List<List<String>> lines) throws IOException {
    Map<String, OpenIntent> open = new LinkedHashMap<>();
    try {
      lines.forEach(line -> replay(open, line));
    } catch (RuntimeException malformed) {
      throw new IOException("the intents' file is of another version, or damaged", malformed);
    }
    return open;
  }

  private static void replay(Map<String, OpenIntent> open, List<String> line) {
    String key = line.get(1);
    switch (line.get(0)) {
      case INTENT ->
          open.put(
              key,
              new OpenIntent(
                  Intent.parse(key),
                  new Route(decode(line.get(2)).toStringUtf8(), line.get(3)),
                  decode(line.get(4)),
                  Instant.parse(line.get(5))));
      case SENT -> find(open, key).sent(Integer.parseInt(line.get(2)), instant(line.get(3)));
      case LATER -> find(open, key).later(instant(line.get(2)).orElseThrow(), instant(line.get(3)));
      case ANSWER -> find(open, key).answer(decode(line.get(2)));
      case DONE -> open.remove(key);
      default -> throw new IllegalStateException("a line of an unknown kind");
    }
  }

  private static OpenIntent find(Map<String, OpenIntent> open, String key) {
    return Optional.ofNullable(open.get(key)).orElseThrow();
  }

  Route route() {
    return route;
  }

  boolean isDue(Instant now) {
    return !due.isAfter(now) && !leaseEnd.isAfter(now);
  }

  StoredIntent take(Instant now, Duration lease) {
    boolean sentBefore = firstSent.isPresent();
    attempts++;
    fence++;
    firstSent = Optional.of(firstSent.orElse(now));
    leaseEnd = now.plus(lease);
    return new StoredIntent(
        intent,
        route,
        request,
        attempts,
        sentBefore,
        Duration.between(written, now),
        answer,
        fence);
  }

  boolean isOwnedBy(StoredIntent taken) {
    return taken.fence() == fence;
  }

  void leaseUntil(Instant end) {
    leaseEnd = end;
  }

  void postpone(Instant until, boolean neverSent) {
    later(until, neverSent ? Optional.empty() : firstSent);
    leaseEnd = Instant.EPOCH;
  }

  void answer(ByteString kept) {
    answer = Optional.of(kept);
  }

  /** Returns all lines that a new file needs. */
  List<List<String>> lines() {
    List<List<String>> lines = new ArrayList<>();
    lines.add(line());
    lines.add(sentLine());
    lines.add(laterLine());
    answer.ifPresent(kept -> lines.add(answerLine(kept)));
    return lines;
  }

  List<String> line() {
    return List.of(
        INTENT,
        intent.key(),
        encode(ByteString.copyFrom(route.target(), StandardCharsets.UTF_8)),
        route.method(),
        encode(request),
        written.toString());
  }

  List<String> sentLine() {
    return List.of(SENT, intent.key(), Integer.toString(attempts), text(firstSent));
  }

  List<String> laterLine() {
    return List.of(LATER, intent.key(), text(Optional.of(due)), text(firstSent));
  }

  List<String> answerLine(ByteString kept) {
    return List.of(ANSWER, intent.key(), encode(kept));
  }

  List<String> doneLine() {
    return List.of(DONE, intent.key());
  }

  private void sent(int times, Optional<Instant> first) {
    attempts = times;
    firstSent = first;
  }

  private void later(Instant until, Optional<Instant> first) {
    due = until;
    firstSent = first;
  }

  private static String text(Optional<Instant> instant) {
    return instant.map(Instant::toString).orElse("-");
  }

  private static Optional<Instant> instant(String text) {
    return text.equals("-") ? Optional.empty() : Optional.of(Instant.parse(text));
  }

  private static String encode(ByteString bytes) {
    return Base64.getEncoder().encodeToString(bytes.toByteArray());
  }

  private static ByteString decode(String text) {
    return ByteString.copyFrom(Base64.getDecoder().decode(text));
  }
}
