package io.github.grpcidempotency.fault;

import com.google.protobuf.ByteString;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;

/**
 * Splits the bytes that a client sends to PostgreSQL into flushes: messages after which the client
 * waits for an answer. Knows the SQL of each flush, even if only the name of a prepared statement
 * is sent. See " Message Formats" in the PostgreSQL manual.
 */
final class FlushReader {
  private static final int SSL_REQUEST = 80877103;
  private static final int GSS_REQUEST = 80877104;
  private static final String WAITS_FOR_NOTHING = "PBDEC";
  private static final String WAITS_FOR_ROWS = "SQF";

  /**
   * The driver sends BEGIN ahead of a transaction's first statement, without waiting in between.
   */
  private static final String BEGIN = "BEGIN";

  /**
   * A flush.
   *
   * @param sql the statements executed, in order; empty for messages of another kind
   * @param roundTrip whether it runs statements, rather than being part of a login or a logout
   * @param answers the number of times that the database will report that it is ready
   */
  record Sent(ByteString bytes, String sql, boolean roundTrip, int answers) {}

  private final DataInputStream client;
  private final OutputStream toClient;
  private final Map<String, String> statements = new HashMap<>();
  private boolean started;

  FlushReader(InputStream client, OutputStream toClient) {
    this.client = new DataInputStream(client);
    this.toClient = toClient;
  }

  /** Waits for the next flush. */
  Sent next() throws IOException {
    if (started) {
      return flush();
    }
    started = true;
    return startup();
  }

  private Sent startup() throws IOException {
    while (true) {
      byte[] body = body();
      int code = ByteBuffer.wrap(body).getInt();
      if (code == SSL_REQUEST || code == GSS_REQUEST) {
        toClient.write('N');
        toClient.flush();
      } else {
        ByteString.Output bytes = ByteString.newOutput();
        write(bytes, body);
        return new Sent(bytes.toByteString(), "", false, 1);
      }
    }
  }

  private Sent flush() throws IOException {
    ByteString.Output bytes = ByteString.newOutput();
    StringBuilder sql = new StringBuilder();
    int answers = 1;
    char type;
    boolean waits;
    do {
      type = (char) client.readUnsignedByte();
      byte[] body = body();
      bytes.write(type);
      write(bytes, body);
      note(type, ByteBuffer.wrap(body), sql);
      boolean begins = type == 'Q' && BEGIN.equals(string(ByteBuffer.wrap(body)));
      answers += begins ? 1 : 0;
      waits = WAITS_FOR_NOTHING.indexOf(type) < 0 && !begins;
    } while (!waits);
    return new Sent(
        bytes.toByteString(), unquoted(sql.toString()), WAITS_FOR_ROWS.indexOf(type) >= 0, answers);
  }

  /** Returns statements as people write them: the store quotes the name of its schema. */
  static String unquoted(String sql) {
    return sql.replace("\"idempotency\".", "idempotency.");
  }

  private void note(char type, ByteBuffer body, StringBuilder sql) {
    if (type == 'P') {
      statements.put(string(body), string(body));
    } else if (type == 'B') {
      string(body); // the portal
      sql.append(statements.getOrDefault(string(body), "")).append(";\n");
    } else if (type == 'Q') {
      sql.append(string(body)).append(";\n");
    }
  }

  private byte[] body() throws IOException {
    byte[] body = new byte[client.readInt() - Integer.BYTES];
    client.readFully(body);
    return body;
  }

  private static void write(OutputStream target, byte[] body) throws IOException {
    new DataOutputStream(target).writeInt(body.length + Integer.BYTES);
    target.write(body);
  }

  private static String string(ByteBuffer body) {
    ByteString.Output string = ByteString.newOutput();
    for (byte next = body.get(); next != 0; next = body.get()) {
      string.write(next);
    }
    return string.toByteString().toStringUtf8();
  }
}
