package io.github.grpcidempotency.client;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * A file of lines that is only ever appended to, or replaced as a whole, by one process at a time.
 *
 * <ul>
 *   <li>A line consists of fields joined by tabs; the last is the CRC-32 of the others. An appended
 *       line is on disk when the method returns.
 *   <li>A crash may tear what was appended last. A torn line is ignored, because nobody was told
 *       that it was written. Damage in front of a good line is an error.
 *   <li>The lock is on a file beside it, which stays: a lock on the file itself would be lost with
 *       the first replacement.
 * </ul>
 *
 * <p>Not thread-safe. After an error, it may be written to all the same.
 */
final class IntentJournal implements Closeable {
  private final Path file;
  private final Disk disk;
  private final FileChannel lockFile;
  private final FileLock lock;
  private Disk.Output output;
  private long size;
  private boolean nameIsDurable;

  private IntentJournal(
      Path file, Disk disk, FileChannel lockFile, FileLock lock, Disk.Output output)
      throws IOException {
    this.file = file;
    this.disk = disk;
    this.lockFile = lockFile;
    this.lock = lock;
    this.output = output;
    this.size = output.size();
  }

  /**
   * Opens a file, or creates it.
   *
   * @throws IOException if the file cannot be opened, or another process has it open
   */
  static IntentJournal open(Path file, Disk disk) throws IOException {
    FileChannel lockFile =
        LocalDisk.channel(
            beside(file, ".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    try {
      FileLock lock = tryLock(lockFile);
      if (lock == null) {
        throw new IOException(file + " is in use by another process");
      }
      return new IntentJournal(file, disk, lockFile, lock, disk.append(file));
    } catch (IOException | RuntimeException failure) {
      lockFile.close();
      throw failure;
    }
  }

  /**
   * Returns the fields of every line, except a line that a crash has torn.
   *
   * @throws IOException if a line is damaged and a good one follows
   */
  List<List<String>> read() throws IOException {
    String text = Files.readString(file, StandardCharsets.ISO_8859_1);
    List<List<String>> lines = new ArrayList<>();
    boolean damaged = false;
    // After the last line break there is nothing, or a torn line.
    for (int start = 0, end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      Optional<List<String>> fields = checked(text.substring(start, end));
      if (fields.isPresent() && damaged) {
        throw new IOException(file + " is damaged");
      }
      damaged |= fields.isEmpty();
      fields.ifPresent(lines::add);
      start = end + 1;
    }
    return lines;
  }

  /** Appends lines, all of them on disk when it returns. */
  void append(List<List<String>> lines) throws IOException {
    ByteBuffer bytes = bytes(lines);
    int length = bytes.remaining();
    try {
      output.write(bytes);
      output.force();
      forceName();
      size += length;
    } catch (IOException failure) {
      output.truncate(size); // or a later line would follow half a line
      throw failure;
    }
  }

  /** Replaces all lines at once: a crash leaves the old ones or the new ones. */
  void replace(List<List<String>> lines) throws IOException {
    Path path = beside(file, ".new");
    ByteBuffer bytes = bytes(lines);
    int length = bytes.remaining();
    Disk.Output successor = disk.create(path);
    try {
      successor.write(bytes);
      successor.force();
      disk.rename(path, file);
    } catch (IOException failure) {
      successor.close();
      throw failure;
    }
    // From here on, the old file has no name: nothing may be written to it, whatever fails.
    Disk.Output old = output;
    output = successor;
    size = length;
    nameIsDurable = false;
    old.close();
    forceName();
  }

  @Override
  public void close() throws IOException {
    output.close();
    lock.release();
    lockFile.close();
  }

  private void forceName() throws IOException {
    if (!nameIsDurable) {
      disk.forceName(file);
      nameIsDurable = true;
    }
  }

  private static @Nullable FileLock tryLock(FileChannel lockFile) throws IOException {
    try {
      return lockFile.tryLock();
    } catch (OverlappingFileLockException heldInThisProcess) {
      return null;
    }
  }

  private static Path beside(Path file, String suffix) {
    return file.resolveSibling(file.getFileName() + suffix);
  }

  private static ByteBuffer bytes(List<List<String>> lines) {
    return StandardCharsets.ISO_8859_1.encode(
        lines.stream().map(IntentJournal::line).collect(Collectors.joining()));
  }

  private static String line(List<String> fields) {
    String content = String.join("\t", fields);
    return content + "\t" + checksum(content) + "\n";
  }

  private static Optional<List<String>> checked(String line) {
    int tab = line.lastIndexOf('\t');
    return tab >= 0 && checksum(line.substring(0, tab)).equals(line.substring(tab + 1))
        ? Optional.of(Arrays.asList(line.substring(0, tab).split("\t", -1)))
        : Optional.empty();
  }

  private static String checksum(String content) {
    CRC32 crc = new CRC32();
    crc.update(content.getBytes(StandardCharsets.ISO_8859_1));
    return Long.toHexString(crc.getValue());
  }
}
