package io.github.grpcidempotency.cli;

import picocli.CommandLine.Option;

/** How results are written. */
final class OutputOptions {
  @Option(
      names = "--output",
      paramLabel = "FORMAT",
      defaultValue = "table",
      description =
          "table for people, or json for programs: one object per line. Default: ${DEFAULT-VALUE}.")
  Format format = Format.table;

  /** The two ways, as they are spelt on the command line. */
  enum Format {
    table,
    json
  }

  boolean isJson() {
    return format == Format.json;
  }
}
