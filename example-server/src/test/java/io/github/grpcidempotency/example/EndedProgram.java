package io.github.grpcidempotency.example;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;

/**
 * The result of the program after it has run in this process, which is much quicker than a separate
 * one.
 */
record EndedProgram(int exitCode, String out, String err) {

  static EndedProgram of(String... arguments) {
    PrintStream outBefore = System.out;
    PrintStream errBefore = System.err;
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    System.setOut(new PrintStream(out, true, UTF_8));
    System.setErr(new PrintStream(err, true, UTF_8));
    try {
      int exitCode = Example.run(arguments);
      return new EndedProgram(exitCode, said(out), said(err));
    } finally {
      System.setOut(outBefore);
      System.setErr(errBefore);
    }
  }

  private static String said(ByteArrayOutputStream stream) {
    return stream.toString(UTF_8).strip();
  }
}
