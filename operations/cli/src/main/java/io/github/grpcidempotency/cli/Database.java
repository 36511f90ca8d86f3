package io.github.grpcidempotency.cli;

import io.github.grpcidempotency.admin.Administration;
import io.github.grpcidempotency.postgres.IdempotencySchema;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The database of a command.
 *
 * @param dataSource connects as the operator's role, without a pool
 * @param schema the library's schema
 * @param role the role
 */
record Database(DataSource dataSource, String schema, String role) {
  private static final String PREFIX = "jdbc:postgresql:";
  private static final Pattern SCHEMA = Pattern.compile("[a-z_][a-z0-9_]{0,62}");
  private static final Pattern LIBPQ =
      Pattern.compile("postgres(?:ql)?://(?:([^@/?]*)@)?([^@?]*)(\\?.*)?");
  private static final int CONNECT_SECONDS = 10;

  /**
   * Connects once to test the connection, and prompts for a password if one is needed.
   *
   * @throws CommandFailure if the connection fails
   */
  static Database connect(ConnectionOptions options, Surroundings surroundings) {
    return new Login(options, surroundings).connect();
  }

  Administration administration() {
    return Administration.on(dataSource, schema);
  }

  static String schema(ConnectionOptions options, Surroundings surroundings) {
    String name =
        options
            .schema
            .or(() -> surroundings.variable("IDEMPOTENCY_SCHEMA"))
            .orElse(IdempotencySchema.DEFAULT_NAME);
    if (!SCHEMA.matcher(name).matches()) {
      throw new CommandFailure(
          ExitCode.USAGE,
          "the name of a schema must be a plain lower case identifier, not \"" + name + "\"");
    }
    return name;
  }

  private record Login(ConnectionOptions options, Surroundings surroundings) {
    Database connect() {
      String schema = schema(options, surroundings);
      PGSimpleDataSource dataSource = dataSource();
      Optional<String> password = surroundings.variable("IDEMPOTENCY_PASSWORD");
      password.ifPresent(dataSource::setPassword);
      try {
        tryConnection(dataSource);
      } catch (SQLException failure) {
        if (password.isPresent() || !isPasswordWanted(failure) || !askPassword(dataSource)) {
          throw refusal(failure);
        }
      }
      return new Database(dataSource, schema, String.valueOf(dataSource.getUser()));
    }

    private PGSimpleDataSource dataSource() {
      PGSimpleDataSource dataSource = new PGSimpleDataSource();
      String url = url();
      try {
        dataSource.setUrl(url);
      } catch (IllegalArgumentException malformed) {
        throw new CommandFailure(
            ExitCode.USAGE,
            "the URL is not one of a PostgreSQL database, such as"
                + " jdbc:postgresql://localhost:5432/orders",
            malformed);
      }
      String inUrl = dataSource.getUser();
      options
          .role
          .or(() -> Optional.ofNullable(url.contains("user=") ? inUrl : null))
          .or(() -> surroundings.variable("IDEMPOTENCY_USER"))
          .or(() -> Optional.of(System.getProperty("user.name")))
          .ifPresent(dataSource::setUser);
      dataSource.setApplicationName("idempotency");
      dataSource.setConnectTimeout(CONNECT_SECONDS);
      dataSource.setTcpKeepAlive(true);
      return dataSource;
    }

    private String url() {
      Optional<String> given = options.url.map(Login::toJdbc);
      given.filter(url -> url.matches("(?s).*[?&]password=.*")).ifPresent(Login::refusePassword);
      return given
          .or(() -> surroundings.variable("IDEMPOTENCY_URL").map(Login::toJdbc))
          .orElseThrow(
              () ->
                  new CommandFailure(
                      ExitCode.USAGE,
                      "the database is not set: give --url, or set IDEMPOTENCY_URL"));
    }

    private static void refusePassword(String url) {
      throw new CommandFailure(
          ExitCode.USAGE,
          "do not put a password on the command line, where others can see it: use"
              + " IDEMPOTENCY_PASSWORD or ~/.pgpass");
    }

    /** Converts a URL of other PostgreSQL programs to the driver's format. */
    private static String toJdbc(String url) {
      Matcher libpq = LIBPQ.matcher(url);
      if (!libpq.matches()) {
        return url;
      }
      StringBuilder jdbc = new StringBuilder(PREFIX).append("//").append(libpq.group(2));
      String parameters = libpq.group(3);
      jdbc.append(parameters == null ? "?" : parameters + "&");
      String login = libpq.group(1);
      if (login != null && !login.isEmpty()) {
        String[] userAndPassword = login.split(":", 2);
        jdbc.append("user=").append(decoded(userAndPassword[0]));
        if (userAndPassword.length == 2) {
          jdbc.append("&password=").append(userAndPassword[1]);
        }
      }
      return jdbc.toString();
    }

    private static String decoded(String part) {
      return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    private static boolean isPasswordWanted(SQLException failure) {
      String state = String.valueOf(failure.getSQLState());
      return state.equals("28P01")
          || FailureReport.isLogin(state, String.valueOf(failure.getMessage()));
    }

    private boolean askPassword(PGSimpleDataSource dataSource) {
      Optional<String> typed =
          surroundings
              .terminal()
              .flatMap(
                  terminal -> terminal.askSecretly("Password of " + dataSource.getUser() + ": "));
      typed.ifPresent(dataSource::setPassword);
      if (typed.isPresent()) {
        try {
          tryConnection(dataSource);
        } catch (SQLException failure) {
          throw refusal(failure);
        }
      }
      return typed.isPresent();
    }

    private static void tryConnection(DataSource dataSource) throws SQLException {
      try (Connection connection = dataSource.getConnection()) {
        connection.setReadOnly(true);
      }
    }

    private static CommandFailure refusal(SQLException failure) {
      ExitCode code = FailureReport.exitCode(failure);
      String said = String.valueOf(failure.getMessage());
      return code == ExitCode.NO_RIGHT
          ? new CommandFailure(code, "the database refused the login: " + said, failure)
          : new CommandFailure(
              ExitCode.UNREACHABLE, "the database cannot be reached: " + said, failure);
    }
  }
}
