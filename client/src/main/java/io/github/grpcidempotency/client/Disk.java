package io.github.grpcidempotency.client;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/** What a journal does to its files, as far as it decides what a power cut leaves behind. */
interface Disk {
  /** A file that is written to at its end. */
  interface Output extends Closeable {
    long size() throws IOException;

    /** Writes all of the bytes; a power cut may take any of them. */
    void write(ByteBuffer bytes) throws IOException;

    /** Makes durable what is written. */
    void force() throws IOException;

    void truncate(long size) throws IOException;
  }

  /** Opens a file, or creates it, and goes on at its end. */
  Output append(Path file) throws IOException;

  /** Creates a file, or empties it. */
  Output create(Path file) throws IOException;

  /** Gives a file the name of another, which is gone then; a power cut may undo it. */
  void rename(Path file, Path name) throws IOException;

  /** Makes durable which file has this name. */
  void forceName(Path file) throws IOException;
}
