package io.github.grpcidempotency.benchmarks.database;

import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.util.concurrent.atomic.LongAdder;

/** Counts its turn-arounds: a read that follows a write is one round trip. */
final class CountingSocket extends Socket {
  private static final LongAdder roundTrips = new LongAdder();

  private volatile boolean written;

  /** Returns how many round trips all sockets of this process have made. */
  static long roundTrips() {
    return roundTrips.sum();
  }

  @Override
  public OutputStream getOutputStream() throws IOException {
    return new FilterOutputStream(super.getOutputStream()) {
      @Override
      public void write(int value) throws IOException {
        written = true;
        out.write(value);
      }

      @Override
      public void write(byte[] bytes, int offset, int length) throws IOException {
        written = true;
        out.write(bytes, offset, length);
      }
    };
  }

  @Override
  public InputStream getInputStream() throws IOException {
    return new FilterInputStream(super.getInputStream()) {
      @Override
      public int read() throws IOException {
        countTurn();
        return in.read();
      }

      @Override
      public int read(byte[] bytes, int offset, int length) throws IOException {
        countTurn();
        return in.read(bytes, offset, length);
      }
    };
  }

  private void countTurn() {
    if (written) {
      written = false;
      roundTrips.increment();
    }
  }
}
