package io.github.grpcidempotency.example.run.command;

import io.github.grpcidempotency.example.run.settings.Keyset;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Makes and rotates the keyset that keeps recorded answers secret. */
@Command(
    name = "keys",
    description =
        "Makes the keyset that keeps recorded answers secret, and rotates it: ADD first, until every server has the new key, and then SEAL with it. Servers on one machine see the file change; others need a copy of it.")
public final class Keys implements Callable<Integer> {
  /** What can be done with a keyset. */
  enum Action {
    /** Makes a keyset of one key. */
    CREATE,
    /** Adds a key, which opens and does not seal yet. */
    ADD,
    /** Lets the newest key seal. */
    SEAL
  }

  @Parameters(index = "0", paramLabel = "CREATE|ADD|SEAL", description = "what to do")
  private Action action = Action.CREATE;

  @Parameters(index = "1", paramLabel = "FILE", description = "where the keyset is, or is to be")
  private Path file = Path.of("keyset.json");

  @Override
  public Integer call() {
    switch (action) {
      case CREATE -> Keyset.create().writeNew(file);
      case ADD -> Keyset.read(file).withNewKey().replace(file);
      case SEAL -> Keyset.read(file).sealingWithNewest().replace(file);
    }
    Keyset now = Keyset.read(file);
    System.out.printf("%s: %d keys, of which %08x seals%n", file, now.size(), now.sealingKey());
    return 0;
  }
}
