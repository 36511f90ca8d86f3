package io.github.grpcidempotency.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.client.PowerCutDisk.Names;
import io.github.grpcidempotency.client.PowerCutDisk.Step;
import io.github.grpcidempotency.client.testing.v1.OrderRequest;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a file of intents has said that it has kept is there after a power cut at any step. */
class PowerCutTest {
  private static final Duration LEASE = Duration.ofMinutes(1);
  private static final ByteString ANSWER = ByteString.copyFromUtf8("answer");
  private static final Set<Route> ROUTES =
      Set.of(IntentStore.route("shop", OrderServiceGrpc.getCreateOrderMethod()));

  private final PowerCutDisk disk = new PowerCutDisk();
  private final Path home;

  PowerCutTest(@TempDir Path home) {
    this.home = home;
  }

  @ParameterizedTest
  @EnumSource
  void anIntentIsOnDiskWhenItIsWritten(Names kept) throws IOException {
    try (FileIntentStore intents = open()) {
      Intent first = write(intents);
      assertThat(left(kept)).extracting(StoredIntent::intent).containsExactly(first);
      Intent second = write(intents);
      assertThat(left(kept)).extracting(StoredIntent::intent).containsExactly(first, second);
    }
  }

  @ParameterizedTest
  @EnumSource
  void thatItMayBeSentIsOnDiskBeforeItIs(Names kept) throws IOException {
    try (FileIntentStore intents = open()) {
      Intent unused = write(intents);
      assertThat(left(kept)).extracting(StoredIntent::sentBefore).containsExactly(false);

      assertThat(intents.take(ROUTES, 1, LEASE)).hasSize(1);

      assertThat(left(kept)).extracting(StoredIntent::sentBefore).containsExactly(true);
    }
  }

  @ParameterizedTest
  @EnumSource
  void anAnswerIsOnDiskBeforeItIsHandedOn(Names kept) throws IOException {
    try (FileIntentStore intents = open()) {
      Intent unused = write(intents);
      StoredIntent taken = intents.take(ROUTES, 1, LEASE).get(0);

      assertThat(intents.answered(taken, ANSWER, LEASE)).isTrue();

      assertThat(left(kept))
          .singleElement()
          .satisfies(intent -> assertThat(intent.answer()).contains(ANSWER));
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatIsDoneStaysDone(Names kept) throws IOException {
    try (FileIntentStore intents = open()) {
      Intent unused = write(intents);
      intents.done(intents.take(ROUTES, 1, LEASE).get(0));

      assertThat(left(kept)).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource
  void aFileThatIsWrittenAnewIsTheOldOneOrTheNewOneAtEveryStep(Names kept) throws IOException {
    List<Intent> written = new ArrayList<>();
    try (FileIntentStore intents = open()) {
      for (int i = 0; i < 3; i++) {
        written.add(write(intents));
      }
    }
    AtomicInteger steps = new AtomicInteger();
    disk.watch(
        step -> {
          steps.incrementAndGet();
          assertThat(left(kept))
              .as("at %s", step)
              .extracting(StoredIntent::intent)
              .containsExactlyElementsOf(written);
        });

    open().close();

    assertThat(steps).hasValue(4);
  }

  @ParameterizedTest
  @EnumSource
  void whatFollowsARenameThatCouldNotBeForcedIsOnDiskAllTheSame(Names kept) throws IOException {
    try (IntentJournal journal = IntentJournal.open(file(), disk)) {
      journal.append(List.of(List.of("old")));
      disk.watch(failingAt(Step.FORCE_NAME));
      assertThatThrownBy(() -> journal.replace(List.of(List.of("new")))).hasMessage("no space");
      assertThatThrownBy(() -> journal.append(List.of(List.of("refused")))).hasMessage("no space");
      disk.watch(step -> {});

      journal.append(List.of(List.of("more")));

      assertThat(linesLeft(kept)).containsExactly(List.of("new"), List.of("more"));
      assertThat(journal.read()).containsExactly(List.of("new"), List.of("more"));
    }
  }

  @ParameterizedTest
  @EnumSource(names = "FORCE_NAME", mode = EnumSource.Mode.EXCLUDE)
  void whatFollowsAFileThatCouldNotBeReplacedIsOnDiskAllTheSame(Step failing) throws IOException {
    try (IntentJournal journal = IntentJournal.open(file(), disk)) {
      journal.append(List.of(List.of("old")));
      disk.watch(failingAt(failing));
      assertThatThrownBy(() -> journal.replace(List.of(List.of("new")))).hasMessage("no space");
      disk.watch(step -> {});

      journal.append(List.of(List.of("more")));

      assertThat(linesLeft(Names.OLD)).contains(List.of("more"));
      assertThat(linesLeft(Names.NEW)).contains(List.of("more"));
      assertThat(journal.read()).contains(List.of("more"));
    }
  }

  @Test
  void anIntentThatCouldNotBeWrittenIsNotThere() throws IOException {
    try (FileIntentStore intents = open()) {
      Intent first = write(intents);
      disk.watch(failingAt(Step.FORCE));
      assertThatThrownBy(() -> write(intents)).isInstanceOf(IOException.class);
      disk.watch(step -> {});
      Intent third = write(intents);

      assertThat(left(Names.NEW)).extracting(StoredIntent::intent).containsExactly(first, third);
      assertThat(intents.take(ROUTES, 10, LEASE))
          .extracting(StoredIntent::intent)
          .containsExactly(first, third);
    }
  }

  private static PowerCutDisk.Watcher failingAt(Step failing) {
    return step -> {
      if (step == failing) {
        throw new IOException("no space");
      }
    };
  }

  private FileIntentStore open() throws IOException {
    return FileIntentStore.open(file(), disk, InstantSource.system());
  }

  private Path file() {
    return home.resolve("intents");
  }

  private List<StoredIntent> left(Names kept) throws IOException {
    Path directory = afterACut(kept);
    try (FileIntentStore intents = FileIntentStore.open(directory.resolve("intents"))) {
      return intents.take(ROUTES, 10, LEASE);
    }
  }

  private List<List<String>> linesLeft(Names kept) throws IOException {
    Path file = afterACut(kept).resolve("intents");
    try (IntentJournal journal = IntentJournal.open(file, new LocalDisk())) {
      return journal.read();
    }
  }

  private Path afterACut(Names kept) throws IOException {
    Path directory = Files.createTempDirectory(home, "cut");
    disk.cutInto(directory, kept);
    return directory;
  }

  private static Intent write(FileIntentStore intents) throws IOException {
    return intents.write(
        "shop", OrderServiceGrpc.getCreateOrderMethod(), OrderRequest.getDefaultInstance());
  }
}
