package io.github.grpcidempotency.pages;

import io.github.grpcidempotency.cli.Main;
import io.github.grpcidempotency.pages.Page.Block;
import io.github.grpcidempotency.test.Program;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The service of the pages, whose database and roles they make. Others may have been made on the
 * same server by other tests, so {@code shop} stands for a name of its own.
 */
final class Shop {
  private static final AtomicInteger shops = new AtomicInteger();
  private static final Pattern NAME = Pattern.compile("\\bshop(?=\\b|_)");
  private static final Pattern VARIABLE = Pattern.compile("\\$(\\w+)");
  private static final Pattern WORD = Pattern.compile("((?:[^\\s\"']|\"[^\"]*\"|'[^']*')+)");
  private static final Pattern QUOTED = Pattern.compile("'([^']*)'|\"[^\"]*\"|[^\"']+");

  private final RunbookServer server;
  private final String name =
      "shop%d_%d".formatted(ProcessHandle.current().pid(), shops.incrementAndGet());
  private final Path directory;
  private final Map<String, String> variables = new HashMap<>();
  private final List<String> output = new ArrayList<>();

  /**
   * A shop of which nothing is made yet.
   *
   * @param directory where files are written
   */
  Shop(RunbookServer server, Path directory) {
    this.server = server;
    this.directory = directory;
    variables.put("PGHOST", server.host());
    variables.put("PGPORT", Integer.toString(server.port()));
    variables.put("PGDATABASE", name);
    variables.put(
        "IDEMPOTENCY_URL", "postgres://%s:%d/%s".formatted(server.host(), server.port(), name));
  }

  /** Sets a variable that lines of a shell refer to. */
  void set(String variable, String value) {
    variables.put(variable, value);
  }

  /** Runs all that a page tells, and returns what the lines of its shell have printed. */
  List<String> run(Page page) {
    output.clear();
    for (Block block : page.blocks()) {
      if (block instanceof Block.Sql sql) {
        execute(sql);
      } else if (block instanceof Block.Shell shell) {
        shell.lines().forEach(this::runLine);
      }
    }
    return List.copyOf(output);
  }

  /** Connects to the shop's database, or to one with another name of the pages. */
  DataSource connect(String role, String database) {
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    dataSource.setServerNames(new String[] {server.host()});
    dataSource.setPortNumbers(new int[] {server.port()});
    dataSource.setDatabaseName(mapped(database));
    dataSource.setUser(role.equals("superuser") ? RunbookServer.SUPERUSER : mapped(role));
    return dataSource;
  }

  /** Returns what is really called as the pages call it. */
  String mapped(String text) {
    return NAME.matcher(text).replaceAll(name);
  }

  /** Returns a text of the database in the words of the pages. */
  String unmapped(String text) {
    return text.replace(name, "shop");
  }

  private void execute(Block.Sql sql) {
    try (Connection connection = connect(sql.role(), sql.database()).getConnection();
        Statement statement = connection.createStatement()) {
      for (String each : statements(mapped(sql.statements()))) {
        statement.execute(each);
      }
    } catch (SQLException failure) {
      throw new AssertionError("as %s: %s".formatted(sql.role(), sql.statements()), failure);
    }
  }

  /** A statement ends with a semicolon at the end of a line, outside of quoted bodies. */
  private static List<String> statements(String text) {
    List<String> statements = new ArrayList<>();
    StringBuilder statement = new StringBuilder();
    for (String line : text.replaceAll("(?m) *--.*$", "").split("\n", -1)) {
      statement.append(line).append('\n');
      boolean quoted = statement.toString().split("\\$\\$", -1).length % 2 == 0;
      if (!quoted && line.stripTrailing().endsWith(";")) {
        statements.add(statement.toString());
        statement.setLength(0);
      }
    }
    if (!statement.toString().isBlank()) {
      throw new IllegalStateException("a statement without an end: " + statement);
    }
    return statements;
  }

  private void runLine(String line) {
    String expanded = mapped(line);
    if (expanded.startsWith("export ")) {
      for (String assignment : words(expanded.substring("export ".length()))) {
        String[] parts = assignment.split("=", 2);
        variables.put(parts[0], parts[1]);
      }
      return;
    }
    Ran ran = line.startsWith("idempotency ") ? runCommand(expanded) : runShell(expanded);
    if (ran.exitCode() != 0) {
      throw new AssertionError("%s%nended with %d: %s".formatted(line, ran.exitCode(), ran.said()));
    }
    output.add(unmapped(ran.said()));
  }

  private record Ran(int exitCode, String said) {}

  private Ran runCommand(String line) {
    StringWriter said = new StringWriter();
    PrintWriter writer = new PrintWriter(said);
    int exitCode =
        Main.run(variables, writer, writer, words(line).stream().skip(1).toArray(String[]::new));
    return new Ran(exitCode, said.toString());
  }

  /** Splits a line as a shell does, as far as the pages need it. */
  private List<String> words(String line) {
    return WORD.matcher(line).results().map(word -> unquoted(word.group(1))).toList();
  }

  private String unquoted(String word) {
    return QUOTED
        .matcher(word)
        .replaceAll(
            part ->
                Matcher.quoteReplacement(
                    part.group(1) != null
                        ? part.group(1)
                        : expand(part.group().replace("\"", ""))));
  }

  private String expand(String word) {
    return VARIABLE
        .matcher(word)
        .replaceAll(
            variable -> Matcher.quoteReplacement(variables.getOrDefault(variable.group(1), "")));
  }

  private Ran runShell(String line) {
    try {
      ProcessBuilder shell =
          Program.BASH
              .process("-euo", "pipefail", "-c", line)
              .directory(directory.toFile())
              .redirectErrorStream(true);
      shell.environment().putAll(variables);
      Process process = shell.start();
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return new Ran(process.waitFor(), said);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(ended);
    }
  }
}
