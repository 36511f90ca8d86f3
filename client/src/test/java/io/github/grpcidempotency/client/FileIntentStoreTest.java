package io.github.grpcidempotency.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.grpcidempotency.client.testing.v1.OrderRequest;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc;
import io.github.grpcidempotency.fault.ServerProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileIntentStoreTest {
  private static final Duration LEASE = Duration.ofMinutes(1);
  private static final Set<Route> ROUTES =
      Set.of(IntentStore.route("shöp", OrderServiceGrpc.getCreateOrderMethod()));

  private final Path home;

  FileIntentStoreTest(@TempDir Path home) {
    this.home = home;
  }

  @Test
  void aWrittenIntentIsKeptWhenTheFileIsOpenedAgain() throws IOException {
    Intent first;
    Intent second;
    try (FileIntentStore intents = open()) {
      first = write(intents, "tea");
      second = write(intents, "milk");
    }

    try (FileIntentStore intents = open()) {
      List<StoredIntent> taken = intents.take(ROUTES, 10, LEASE);
      assertThat(taken).extracting(StoredIntent::intent).containsExactly(first, second);
      assertThat(taken.get(0).request()).isEqualTo(order("tea").toByteString());
      assertThat(taken.get(0).sentBefore()).isFalse();
      assertThat(taken.get(0).attempts()).isEqualTo(1);
    }
  }

  @Test
  void theProgressOfAnIntentIsKeptToo() throws IOException {
    try (FileIntentStore intents = open()) {
      write(intents, "tea");
      write(intents, "milk");
      write(intents, "bread");
      List<StoredIntent> taken = intents.take(ROUTES, 3, LEASE);
      assertThat(intents.answered(taken.get(0), order("answer").toByteString(), LEASE)).isTrue();
      intents.done(taken.get(1));
      intents.postpone(taken.get(2), Duration.ZERO, true);
    }

    try (FileIntentStore intents = open()) {
      List<StoredIntent> taken = intents.take(ROUTES, 3, LEASE);
      assertThat(taken).hasSize(2);
      assertThat(taken.get(0).answer()).isEqualTo(Optional.of(order("answer").toByteString()));
      assertThat(taken.get(0).sentBefore()).isTrue();
      assertThat(taken.get(0).attempts()).isEqualTo(2);
      assertThat(taken.get(1).answer()).isEmpty();
      assertThat(taken.get(1).sentBefore()).isFalse();
    }
  }

  @Test
  void aPostponedIntentWaitsEvenIfTheFileIsOpenedAgain() throws IOException {
    try (FileIntentStore intents = open()) {
      write(intents, "tea");
      intents.postpone(intents.take(ROUTES, 1, LEASE).get(0), Duration.ofHours(1), false);
    }

    try (FileIntentStore intents = open()) {
      assertThat(intents.take(ROUTES, 1, LEASE)).isEmpty();
      assertThat(intents.hasAny(ROUTES)).isTrue();
    }
  }

  @Test
  void theLeaseOfADeadProcessDelaysNobody() throws IOException {
    try (FileIntentStore intents = open()) {
      write(intents, "tea");
      assertThat(intents.take(ROUTES, 1, LEASE)).hasSize(1);
      assertThat(intents.take(ROUTES, 1, LEASE)).isEmpty();
    }

    try (FileIntentStore intents = open()) {
      assertThat(intents.take(ROUTES, 1, LEASE)).hasSize(1);
    }
  }

  @Test
  void whoHasLostAnIntentChangesNothingOfIt() throws IOException {
    try (FileIntentStore intents = open()) {
      write(intents, "tea");
      StoredIntent lost = intents.take(ROUTES, 1, Duration.ZERO).get(0);
      StoredIntent taken = intents.take(ROUTES, 1, LEASE).get(0);

      assertThat(intents.answered(lost, order("answer").toByteString(), LEASE)).isFalse();
      intents.postpone(lost, Duration.ZERO, true);
      intents.renew(List.of(lost), Duration.ZERO);
      intents.done(lost);

      assertThat(intents.take(ROUTES, 1, LEASE)).isEmpty();
      intents.renew(List.of(taken), Duration.ZERO);
      assertThat(intents.take(ROUTES, 1, LEASE)).hasSize(1);
    }
  }

  @Test
  void aTornLastLineIsLeftOutWhereverItIsTorn() throws IOException {
    try (FileIntentStore intents = open()) {
      write(intents, "tea");
    }
    byte[] one = Files.readAllBytes(file());
    try (FileIntentStore intents = open()) {
      write(intents, "milk");
    }
    byte[] both = Files.readAllBytes(file());
    assertThat(both.length).isGreaterThan(one.length + 100);

    for (int length = one.length; length <= both.length; length += 3) {
      Files.write(file(), Arrays.copyOf(both, length));
      try (FileIntentStore intents = open()) {
        int whole = length == both.length ? 2 : 1;
        assertThat(intents.take(ROUTES, 3, LEASE)).as("cut at %s", length).hasSize(whole);
        write(intents, "bread");
      }
      try (FileIntentStore intents = open()) {
        assertThat(intents.take(ROUTES, 3, LEASE)).hasSizeGreaterThan(1);
      }
    }
  }

  @Test
  void aTornLineOfZerosIsLeftOut() throws IOException {
    try (FileIntentStore intents = open()) {
      write(intents, "tea");
    }
    Files.write(file(), new byte[4_096], StandardOpenOption.APPEND);

    try (FileIntentStore intents = open()) {
      assertThat(intents.take(ROUTES, 3, LEASE)).hasSize(1);
    }
  }

  @Test
  void damageAheadOfAGoodLineIsAnError() throws IOException {
    try (FileIntentStore intents = open()) {
      write(intents, "tea");
      write(intents, "milk");
    }
    byte[] bytes = Files.readAllBytes(file());
    bytes[10] ^= 1;
    Files.write(file(), bytes);

    assertThatThrownBy(this::open)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("is damaged");
    assertThat(Files.readAllBytes(file())).isEqualTo(bytes);
  }

  @Test
  void aLineOfAnotherVersionIsAnError() throws IOException {
    try (IntentJournal journal = IntentJournal.open(file(), new LocalDisk())) {
      journal.append(List.of(List.of("novelty", "key")));
    }

    assertThatThrownBy(this::open)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("another version");
  }

  @Test
  void onlyOneHasTheFileOpen() throws IOException {
    try (FileIntentStore intents = open()) {
      write(intents, "tea");
      assertThatThrownBy(this::open).isInstanceOf(IOException.class).hasMessageContaining("in use");
    }
    open().close();
  }

  @Test
  void anotherProcessIsKeptOutToo() throws IOException {
    try (FileIntentStore intents = open();
        ServerProcess other =
            ServerProcess.start(Buyer.class, "1", "0", "NEVER", file().toString())) {
      assertThat(intents.hasAny(ROUTES)).isFalse();
      assertThatThrownBy(() -> other.awaitLine("never"))
          .hasMessageContaining("is in use by another process");
    }
  }

  @Test
  void onlyItsOwnerMayReadTheFile() throws IOException {
    try (FileIntentStore intents = open()) {
      write(intents, "tea");
      for (String name : List.of("intents", "intents.lock")) {
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(home.resolve(name))))
            .isEqualTo("rw-------");
      }
    }
  }

  @Test
  void aFileOfThingsPastIsWrittenAnew() throws IOException {
    try (FileIntentStore intents = open()) {
      write(intents, "kept");
      assertThat(intents.take(ROUTES, 1, LEASE)).hasSize(1);
      for (int i = 0; i < 350; i++) {
        write(intents, "order " + i);
        intents.done(intents.take(ROUTES, 1, LEASE).get(0));
      }
      assertThat(Files.readAllLines(file(), StandardCharsets.ISO_8859_1).size()).isLessThan(900);
    }

    try (FileIntentStore intents = open()) {
      assertThat(Files.readAllLines(file())).hasSize(3);
      assertThat(intents.take(ROUTES, 10, LEASE))
          .extracting(StoredIntent::request)
          .containsExactly(order("kept").toByteString());
    }
  }

  @Test
  void anIntentThatIsWrittenTwiceIsThereOnce() throws IOException {
    try (FileIntentStore intents = open()) {
      Intent intent = Intent.parse("order-7");
      intents.write(intent, "shöp", OrderServiceGrpc.getCreateOrderMethod(), order("tea"));
      intents.write(intent, "shöp", OrderServiceGrpc.getCreateOrderMethod(), order("milk"));

      assertThat(intents.take(ROUTES, 10, LEASE))
          .extracting(StoredIntent::request)
          .containsExactly(order("tea").toByteString());
    }
  }

  private FileIntentStore open() throws IOException {
    return FileIntentStore.open(file());
  }

  private Path file() {
    return home.resolve("intents");
  }

  private static Intent write(FileIntentStore intents, String name) throws IOException {
    return intents.write("shöp", OrderServiceGrpc.getCreateOrderMethod(), order(name));
  }

  private static OrderRequest order(String name) {
    return OrderRequest.newBuilder().setName(name).build();
  }
}
