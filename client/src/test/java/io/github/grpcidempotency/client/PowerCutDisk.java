package io.github.grpcidempotency.client;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * This machine's disk, of which it is known what a power cut would leave: contents and names that
 * were forced, and of those that were not, none or all.
 */
final class PowerCutDisk implements Disk {
  /** What a step may be. */
  enum Step {
    WRITE,
    FORCE,
    RENAME,
    FORCE_NAME
  }

  /** What becomes of names that were not forced. */
  enum Names {
    OLD,
    NEW
  }

  /** Is called ahead of every step. */
  interface Watcher {
    void ahead(Step step) throws IOException;
  }

  private static final class Content {
    final ByteArrayOutputStream written = new ByteArrayOutputStream();
    byte[] forced = {};
  }

  private final Disk disk = new LocalDisk();
  private final Map<Path, Content> names = new HashMap<>();
  private final Map<Path, Content> forcedNames = new HashMap<>();
  private Watcher watcher = step -> {};

  /** Calls somebody at every later step; what it throws is the step's failure. */
  void watch(Watcher next) {
    watcher = next;
  }

  /** Writes into a directory what would be left now. */
  void cutInto(Path directory, Names kept) throws IOException {
    Map<Path, Content> left = kept == Names.OLD ? forcedNames : names;
    for (Map.Entry<Path, Content> file : left.entrySet()) {
      Files.write(directory.resolve(file.getKey().getFileName()), file.getValue().forced);
    }
  }

  @Override
  public Output append(Path file) throws IOException {
    return new Watched(disk.append(file), names.computeIfAbsent(file, created -> new Content()));
  }

  @Override
  public Output create(Path file) throws IOException {
    Content content = new Content();
    names.put(file, content);
    return new Watched(disk.create(file), content);
  }

  @Override
  public void rename(Path file, Path name) throws IOException {
    watcher.ahead(Step.RENAME);
    disk.rename(file, name);
    names.put(name, Optional.ofNullable(names.remove(file)).orElseThrow());
  }

  @Override
  public void forceName(Path file) throws IOException {
    watcher.ahead(Step.FORCE_NAME);
    disk.forceName(file);
    forcedNames.clear();
    forcedNames.putAll(names);
  }

  private final class Watched implements Output {
    private final Output output;
    private final Content content;

    Watched(Output output, Content content) {
      this.output = output;
      this.content = content;
    }

    @Override
    public long size() throws IOException {
      return output.size();
    }

    @Override
    public void write(ByteBuffer bytes) throws IOException {
      watcher.ahead(Step.WRITE);
      byte[] copy = new byte[bytes.remaining()];
      bytes.duplicate().get(copy);
      output.write(bytes);
      content.written.writeBytes(copy);
    }

    @Override
    public void force() throws IOException {
      watcher.ahead(Step.FORCE);
      output.force();
      content.forced = content.written.toByteArray();
    }

    @Override
    public void truncate(long size) throws IOException {
      output.truncate(size);
      byte[] left = Arrays.copyOf(content.written.toByteArray(), (int) size);
      content.written.reset();
      content.written.writeBytes(left);
    }

    @Override
    public void close() throws IOException {
      output.close();
    }
  }
}
