package io.github.grpcidempotency.client;

import com.google.protobuf.ByteString;
import io.grpc.MethodDescriptor;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Intents in a file, for command-line tools: the next run finishes what a killed run has begun.
 *
 * <pre>{@code
 * try (FileIntentStore intents = FileIntentStore.open(home.resolve(".orders"));
 *     IntentWorker worker = worker(intents)) {
 *   intents.write("orders", OrderServiceGrpc.getCreateOrderMethod(), request);
 *   worker.drain(Duration.ofMinutes(5)); // this one, and what earlier runs have left
 * }
 * }</pre>
 *
 * <p>A written intent is on disk when the method returns, and a crash in the middle leaves the file
 * readable. Only one process at a time can have it open, by a lock on a file beside it. Only the
 * owner may read new files, if the file system knows owners. Requests and answers are in the file
 * in the clear. An intent's age is told by this machine's clock: if that is set back by hours,
 * {@link IntentWorker.Builder#giveUpAfter} comes as much later.
 *
 * <p>Thread-safe.
 */
public final class FileIntentStore extends IntentStore implements Closeable {
  /** With this many lines or more, a file that is mostly out of date is rewritten. */
  private static final int MANY_LINES = 1_000;

  private final IntentJournal journal;
  private final InstantSource clock;
  private final Map<String, OpenIntent> open;
  private int lines;

  private FileIntentStore(IntentJournal journal, InstantSource clock) throws IOException {
    this.journal = journal;
    this.clock = clock;
    this.open = OpenIntent.replay(journal.read());
    compact();
  }

  /**
   * Opens a file, or creates it. Its directory must exist.
   *
   * @throws IOException if the file cannot be opened, another process has it open, or it is damaged
   */
  public static FileIntentStore open(Path file) throws IOException {
    return open(file, new LocalDisk(), InstantSource.system());
  }

  static FileIntentStore open(Path file, Disk disk, InstantSource clock) throws IOException {
    IntentJournal journal = IntentJournal.open(file, disk);
    try {
      return new FileIntentStore(journal, clock);
    } catch (IOException | RuntimeException failure) {
      journal.close();
      throw failure;
    }
  }

  /**
   * Writes a new intent.
   *
   * @param target the name under which the {@link IntentWorker} knows the server
   * @return the intent, whose text is its key
   * @throws IOException if it cannot be written: it will not be carried out
   * @throws IllegalArgumentException if the method is not unary, or prohibits keys
   */
  public <RequestT> Intent write(
      String target, MethodDescriptor<RequestT, ?> method, RequestT request) throws IOException {
    Intent intent = Intent.create();
    write(intent, target, method, request);
    return intent;
  }

  /**
   * Writes an intent that was made before. If the intent was already written, it stays as it is,
   * until it is done and deleted. The outcome that the callback hears covers the worker's attempts
   * only.
   *
   * @throws IOException if it cannot be written: it will not be carried out
   * @throws IllegalArgumentException if the method is not unary, or prohibits keys
   */
  public synchronized <RequestT> void write(
      Intent intent, String target, MethodDescriptor<RequestT, ?> method, RequestT request)
      throws IOException {
    OpenIntent written =
        new OpenIntent(intent, route(target, method), bytes(method, request), clock.instant());
    if (!open.containsKey(intent.key())) {
      append(List.of(written.line()));
      open.put(intent.key(), written);
    }
  }

  /** Closes the file, so that other processes can open it. Close the workers first. */
  @Override
  public synchronized void close() throws IOException {
    journal.close();
  }

  @Override
  synchronized List<StoredIntent> take(Set<Route> routes, int most, Duration lease) {
    Instant now = clock.instant();
    List<OpenIntent> due =
        open.values().stream()
            .filter(intent -> routes.contains(intent.route()) && intent.isDue(now))
            .limit(most)
            .toList();
    List<StoredIntent> taken = new ArrayList<>();
    due.forEach(intent -> taken.add(intent.take(now, lease)));
    persist(due.stream().map(OpenIntent::sentLine).toList());
    return taken;
  }

  @Override
  synchronized void renew(Collection<StoredIntent> taken, Duration lease) {
    taken.forEach(
        held -> owned(held).ifPresent(intent -> intent.leaseUntil(clock.instant().plus(lease))));
  }

  @Override
  synchronized void postpone(StoredIntent taken, Duration delay, boolean neverSent) {
    owned(taken)
        .ifPresent(
            intent -> {
              intent.postpone(clock.instant().plus(delay), neverSent);
              persist(List.of(intent.laterLine()));
            });
  }

  @Override
  synchronized boolean answered(StoredIntent taken, ByteString answer, Duration lease) {
    Optional<OpenIntent> owned = owned(taken);
    owned.ifPresent(
        intent -> {
          persist(List.of(intent.answerLine(answer)));
          intent.answer(answer);
          intent.leaseUntil(clock.instant().plus(lease));
        });
    return owned.isPresent();
  }

  @Override
  synchronized void done(StoredIntent taken) {
    owned(taken)
        .ifPresent(
            intent -> {
              persist(List.of(intent.doneLine()));
              open.remove(taken.intent().key());
            });
  }

  @Override
  synchronized boolean hasAny(Set<Route> routes) {
    return open.values().stream().anyMatch(intent -> routes.contains(intent.route()));
  }

  private Optional<OpenIntent> owned(StoredIntent taken) {
    return Optional.ofNullable(open.get(taken.intent().key()))
        .filter(intent -> intent.isOwnedBy(taken));
  }

  private void persist(List<List<String>> appended) {
    try {
      append(appended);
    } catch (IOException failure) {
      throw new IllegalStateException("the intents' file: " + failure.getMessage(), failure);
    }
  }

  private void append(List<List<String>> appended) throws IOException {
    if (appended.isEmpty()) {
      return;
    }
    if (lines > MANY_LINES && lines > 10 * open.size()) {
      compact();
    }
    journal.append(appended);
    lines += appended.size();
  }

  private void compact() throws IOException {
    List<List<String>> needed = new ArrayList<>();
    open.values().forEach(intent -> needed.addAll(intent.lines()));
    journal.replace(needed);
    lines = needed.size();
  }
}
