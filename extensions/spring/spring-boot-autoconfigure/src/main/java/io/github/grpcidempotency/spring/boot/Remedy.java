package io.github.grpcidempotency.spring.boot;

import java.util.Arrays;
import java.util.regex.Pattern;

/** What to do about a problem of the set-up in a Spring Boot application. */
enum Remedy {
  MIGRATE(
      "does not exist; migrate|is of an earlier release",
      "Set grpc.idempotency.migration.username and .password to the role that owns the tables, or"
          + " migrate with another tool: docs/how-to/migrations.md."),
  NAME_THE_ROLE(
      "migration\\.username does not say",
      "Set grpc.idempotency.migration.username, or remove grpc.idempotency.migration.enabled."),
  CORRECT_THE_ROLE(
      "but the URL connects as", "Set grpc.idempotency.migration.url to one without a user name."),
  CONNECT_THE_MIGRATION(
      "the migration cannot connect|the migration does not know the database",
      "Correct grpc.idempotency.migration.url, .username and .password."),
  LET_IT_MIGRATE(
      "^the migration failed",
      "Give the role the rights that migrations need, for example by GRANT CREATE ON DATABASE … TO"
          + " …: docs/operations/rights.md."),
  ADD_FLYWAY(
      "Flyway is not on the class path",
      "Add org.flywaydb:flyway-database-postgresql, or remove grpc.idempotency.migration.*."),
  BE_NOBODY(
      "is a superuser|has BYPASSRLS|or may act as its owner",
      "Let spring.datasource.username be a role that owns nothing, and is a member of no owner:"
          + " docs/operations/rights.md."),
  CALL_IT(
      "add_resource_type|grant_to",
      "Call it in a migration of your own, as the role that owns the library's table."),
  SAY_WHO_CALLS(
      "neither Spring Security nor a CallerResolver",
      "Add spring-boot-starter-security with an AuthenticationProcessInterceptor bean, or declare"
          + " a CallerResolver bean."),
  AUTHENTICATE(
      "authenticates none of its calls",
      "Declare an AuthenticationProcessInterceptor bean with @GlobalServerInterceptor, or a"
          + " CallerResolver bean."),
  MARK_ONE(
      "^there are several",
      "Mark one of them with @Primary, or with @Qualifier(\"idempotency\") if it is for this"
          + " library alone."),
  ADD_A_STORE(
      "nowhere to record calls|there is no DataSource",
      "Declare a DataSource, for example by spring.datasource.url."),
  CHOOSE_TRANSACTIONS("host-transactions is false", "Remove the bean, or the property."),
  QUALIFY_ONE_RESOLVER(
      "several StatusResolver beans",
      "Leave one of them, or give each the resource type that it is for by @Qualifier."),
  QUALIFY_THE_RESOLVER(
      "is for no resource type",
      "Give the bean the name of a resource_type, as @Bean(\"order\"), or @Qualifier(\"order\")."),
  LEAVE_OPERATIONS(
      "cannot find operations by id", "Set grpc.idempotency.services.operations to false."),
  USE_ITS_TRANSACTIONS(
      "Spring's transactions cannot be used",
      "Mark the transaction manager of this data source with @Qualifier(\"idempotency\"), or set"
          + " grpc.idempotency.host-transactions to false and write through ClaimTransaction."),
  WRAP_THE_DATA_SOURCE(
      "connections of an IdempotencyDataSource",
      "Set grpc.idempotency.wrap-data-source to true, or let your own DataSource bean be an"
          + " IdempotencyDataSource: docs/hosts/spring-boot.md."),
  BIND_THE_SERVICE(
      "no bound service has this method", "Make its service a bean, or remove the descriptor."),
  LET_IT_THROUGH(
      "ServerInterceptorFilter keeps",
      "Let the filter accept interceptors of this library for this service."),
  REGISTER_ONCE(
      "is registered twice",
      "Remove @GlobalServerInterceptor from your IdempotencyInterceptor bean, and the interceptor"
          + " from @GrpcService: it is registered for you."),
  PUT_IT_OUTSIDE(
      "but must stand outside",
      "Give that interceptor a lower @Order than grpc.idempotency.interceptor-order, or set that"
          + " property higher."),
  CORRECT_IT("", "Correct what the problem names.");

  private final Pattern problem;
  private final String action;

  Remedy(String problem, String action) {
    this.problem = Pattern.compile(problem);
    this.action = action;
  }

  /** Returns what to do about a problem. */
  static String of(String problem) {
    return Arrays.stream(values())
        .filter(remedy -> remedy.problem.matcher(problem).find())
        .findFirst()
        .orElse(CORRECT_IT)
        .action;
  }
}
