package io.github.grpcidempotency.benchmarks.database;

import java.nio.ByteBuffer;

/**
 * Finds the statements among the bytes that a client sends to PostgreSQL: messages of the types
 * Execute and Query. Not thread-safe, as a connection is not.
 *
 * @see <a href="https://www.postgresql.org/docs/current/protocol-message-formats.html">Message
 *     Formats</a>
 */
final class SentStatements {
  private static final byte EXECUTE = 'E';
  private static final byte QUERY = 'Q';
  private static final int SSL_REQUEST = 80877103;
  private static final int GSS_REQUEST = 80877104;

  private final Runnable found;

  /** The first messages have a length and a code, and no type. */
  private boolean typed;

  private ByteBuffer head = ByteBuffer.allocate(2 * Integer.BYTES);
  private int left;

  SentStatements(Runnable found) {
    this.found = found;
  }

  void add(byte[] bytes, int offset, int length) {
    int end = offset + length;
    for (int at = offset; at < end; ) {
      if (left > 0) {
        int skipped = Math.min(left, end - at);
        left -= skipped;
        at += skipped;
      } else {
        head.put(bytes[at++]);
        if (!head.hasRemaining()) {
          begin(head.flip());
        }
      }
    }
  }

  private void begin(ByteBuffer complete) {
    if (typed) {
      byte type = complete.get();
      left = complete.getInt() - Integer.BYTES;
      if (type == EXECUTE || type == QUERY) {
        found.run();
      }
      head.clear();
      return;
    }
    left = complete.getInt() - complete.capacity();
    int code = complete.getInt();
    typed = code != SSL_REQUEST && code != GSS_REQUEST;
    head = ByteBuffer.allocate(typed ? 1 + Integer.BYTES : 2 * Integer.BYTES);
  }
}
