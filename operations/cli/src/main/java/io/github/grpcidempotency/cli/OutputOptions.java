package io.github.grpcidempotency.cli;

import picocli.CommandLine.Option;

/** The format of the results. */
final class OutputOptions {
  @Option(
      names = "--output",
      paramLabel = "FORMAT",
      defaultValue = "table",
      description =
          "table for people, or json for programs: one object per line. Default: ${DEFAULT-VALUE}.")
  Format format = Format.table;

  /** The formats, with their names on the command line. */
  enum Format {
    table,
    json
  }

  boolean isJson() {
    return format == Format.json;
  }
}
