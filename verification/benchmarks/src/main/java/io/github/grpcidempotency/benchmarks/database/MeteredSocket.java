package io.github.grpcidempotency.benchmarks.database;

import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Counts statements and round trips: a read that follows a write is one round trip. It can delay
 * each of them, as a network would, by holding the answer back.
 */
final class MeteredSocket extends Socket {
  private static final LongAdder roundTrips = new LongAdder();
  private static final LongAdder statements = new LongAdder();

  private final long delayNanos;
  private final SentStatements sent = new SentStatements(statements::increment);
  private volatile boolean written;

  MeteredSocket(Duration delay) {
    this.delayNanos = delay.toNanos();
  }

  /** Returns how many round trips all sockets of this process have made. */
  static long roundTrips() {
    return roundTrips.sum();
  }

  /** Returns how many statements all sockets of this process have sent. */
  static long statements() {
    return statements.sum();
  }

  @Override
  public OutputStream getOutputStream() throws IOException {
    return new FilterOutputStream(super.getOutputStream()) {
      @Override
      public void write(int value) throws IOException {
        write(new byte[] {(byte) value}, 0, 1);
      }

      @Override
      public void write(byte[] bytes, int offset, int length) throws IOException {
        written = true;
        sent.add(bytes, offset, length);
        out.write(bytes, offset, length);
      }
    };
  }

  @Override
  public InputStream getInputStream() throws IOException {
    return new FilterInputStream(super.getInputStream()) {
      @Override
      public int read() throws IOException {
        boolean turned = turn();
        int value = in.read();
        holdBack(turned);
        return value;
      }

      @Override
      public int read(byte[] bytes, int offset, int length) throws IOException {
        boolean turned = turn();
        int count = in.read(bytes, offset, length);
        holdBack(turned);
        return count;
      }
    };
  }

  private boolean turn() {
    if (!written) {
      return false;
    }
    written = false;
    roundTrips.increment();
    return true;
  }

  private void holdBack(boolean turned) {
    if (turned && delayNanos > 0) {
      long end = System.nanoTime() + delayNanos;
      for (long left = delayNanos; left > 0; left = end - System.nanoTime()) {
        LockSupport.parkNanos(left);
      }
    }
  }
}
