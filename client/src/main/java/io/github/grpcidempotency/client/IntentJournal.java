package io.github.grpcidempotency.client;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
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
 * <p>Not thread-safe.
 */
final class IntentJournal implements Closeable {
  private final Path file;
  private final FileChannel lockFile;
  private final FileLock lock;
  private FileChannel channel;
  private long size;

  private IntentJournal(Path file, FileChannel lockFile, FileLock lock, FileChannel channel)
      throws IOException {
    this.file = file;
    this.lockFile = lockFile;
    this.lock = lock;
    this.channel = channel;
    this.size = channel.size();
  }

  /**
   * Opens a file, or creates it.
   *
   * @throws IOException if the file cannot be opened, or another process has it open
   */
  static IntentJournal open(Path file) throws IOException {
    Path lockPath = beside(file, ".lock");
    FileChannel lockFile = channel(lockPath, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    try {
      FileLock lock = tryLock(lockFile);
      if (lock == null) {
        throw new IOException(file + " is in use by another process");
      }
      return new IntentJournal(file, lockFile, lock, appending(file));
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
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(false);
      size += length;
    } catch (IOException failure) {
      channel.truncate(size); // or a later line would follow half a line
      throw failure;
    }
  }

  /** Replaces all lines at once: a crash leaves the old ones or the new ones. */
  void replace(List<List<String>> lines) throws IOException {
    Path successor = beside(file, ".new");
    try (FileChannel written =
        channel(
            successor,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      ByteBuffer bytes = bytes(lines);
      while (bytes.hasRemaining()) {
        written.write(bytes);
      }
      written.force(true);
    }
    Files.move(
        successor, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    forceDirectory();
    channel.close();
    channel = appending(file);
    size = channel.size();
  }

  @Override
  public void close() throws IOException {
    channel.close();
    lock.release();
    lockFile.close();
  }

  /** Makes a new name durable; where a directory cannot be opened (Windows), there is no need. */
  private void forceDirectory() throws IOException {
    if (isPosix()) {
      Path directory = Optional.ofNullable(file.toAbsolutePath().getParent()).orElseThrow();
      try (FileChannel opened = FileChannel.open(directory, StandardOpenOption.READ)) {
        opened.force(true);
      }
    }
  }

  private static @Nullable FileLock tryLock(FileChannel lockFile) throws IOException {
    try {
      return lockFile.tryLock();
    } catch (OverlappingFileLockException heldInThisProcess) {
      return null;
    }
  }

  private static FileChannel appending(Path file) throws IOException {
    return channel(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  /** Opens a file that, if new, nobody else may read: requests may be secret. */
  private static FileChannel channel(Path path, StandardOpenOption... options) throws IOException {
    FileAttribute<?>[] attributes =
        isPosix()
            ? new FileAttribute<?>[] {
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
            }
            : new FileAttribute<?>[0];
    return FileChannel.open(path, Set.of(options), attributes);
  }

  private static boolean isPosix() {
    return FileSystems.getDefault().supportedFileAttributeViews().contains("posix");
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
