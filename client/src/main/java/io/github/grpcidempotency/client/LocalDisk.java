package io.github.grpcidempotency.client;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;

/** This machine's files. Nobody else may read a new one: requests may be secret. */
final class LocalDisk implements Disk {
  @Override
  public Output append(Path file) throws IOException {
    return new ChannelOutput(channel(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND));
  }

  @Override
  public Output create(Path file) throws IOException {
    return new ChannelOutput(
        channel(
            file,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE));
  }

  @Override
  public void rename(Path file, Path name) throws IOException {
    Files.move(file, name, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  /** Where a directory cannot be opened (Windows), there is no need. */
  @Override
  public void forceName(Path file) throws IOException {
    if (isPosix()) {
      Path directory = Optional.ofNullable(file.toAbsolutePath().getParent()).orElseThrow();
      try (FileChannel opened = FileChannel.open(directory, StandardOpenOption.READ)) {
        opened.force(true);
      }
    }
  }

  static FileChannel channel(Path path, OpenOption... options) throws IOException {
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

  private record ChannelOutput(FileChannel channel) implements Output {
    @Override
    public long size() throws IOException {
      return channel.size();
    }

    @Override
    public void write(ByteBuffer bytes) throws IOException {
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
    }

    @Override
    public void force() throws IOException {
      channel.force(false);
    }

    @Override
    public void truncate(long size) throws IOException {
      FileChannel unused = channel.truncate(size);
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }
}
