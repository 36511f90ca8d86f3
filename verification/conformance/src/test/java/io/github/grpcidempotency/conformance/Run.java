package io.github.grpcidempotency.conformance;

import java.io.PrintWriter;
import java.io.StringWriter;
import picocli.CommandLine;

/** One run of the program. */
record Run(int code, String output) {
  static Run of(String... arguments) {
    StringWriter output = new StringWriter();
    CommandLine program = Main.commandLine();
    program.setOut(new PrintWriter(output, true)).setErr(new PrintWriter(output, true));
    int code = program.execute(arguments);
    return new Run(code, output.toString());
  }
}
