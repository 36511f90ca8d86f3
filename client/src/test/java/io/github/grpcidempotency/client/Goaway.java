package io.github.grpcidempotency.client;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;

/** The part of HTTP/2 with which a server that is shutting down refuses a call. */
final class Goaway {
  private static final int PREFACE = 24;
  private static final int HEADERS = 1;
  private static final byte[] SETTINGS = {0, 0, 0, 4, 0, 0, 0, 0, 0};

  /** Eight bytes of content: the last stream that was processed, none; and no error. */
  private static final byte[] GOAWAY = {0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

  private Goaway() {}

  /** Waits for the first call, and answers that no stream was processed. */
  static void refuseFirstCall(Socket client) throws IOException {
    OutputStream out = client.getOutputStream();
    out.write(SETTINGS);
    out.flush();
    DataInputStream in = new DataInputStream(client.getInputStream());
    in.skipNBytes(PREFACE);
    int type;
    do {
      int length = (in.readUnsignedByte() << 16) | in.readUnsignedShort();
      type = in.readUnsignedByte();
      in.skipNBytes(5 + length);
    } while (type != HEADERS);
    out.write(GOAWAY);
    out.flush();
    client.shutdownOutput();
    in.transferTo(OutputStream.nullOutputStream());
  }
}
