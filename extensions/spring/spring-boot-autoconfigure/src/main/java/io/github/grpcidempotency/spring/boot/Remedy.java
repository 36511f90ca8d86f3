package io.github.grpcidempotency.spring.boot;

import java.util.Arrays;
import java.util.regex.Pattern;

/** The remedy for a problem of the set-up in a Spring Boot application. */
enum Remedy {
  MIGRATE(
      "does not exist; migrate|is of an earlier release",
      "Set grpc.idempotency.migration.username and .password to the role that owns the tables, or"
          + " migrate with another tool: docs/how-to/migrations.md."),
  NAME_THE_ROLE(
      "migration\\.username is not set",
      "Set grpc.idempotency.migration.username, or remove grpc.idempotency.migration.enabled."),
  CORRECT_THE_ROLE(
      "but the URL connects as",
      "Set grpc.idempotency.migration.url to a URL without a user name."),
  CONNECT_THE_MIGRATION(
      "the migration cannot connect|the migration needs a URL",
      "Correct grpc.idempotency.migration.url, .username and .password."),
  LET_IT_MIGRATE(
      "^the migration failed",
      "Give the role the rights that migrations need, for example by GRANT CREATE ON DATABASE … TO"
          + " …: docs/operations/rights.md."),
  ADD_FLYWAY(
      "Flyway is not on the class path",
      "Add org.flywaydb:flyway-database-postgresql, or remove grpc.idempotency.migration.*."),
  BE_NOBODY(
      "is a superuser|has BYPASSRLS|is a member of its owner",
      "Set spring.datasource.username to a role that owns nothing, and that is not a member"
          + " of an owner: docs/operations/rights.md."),
  CALL_IT(
      "add_resource_type|grant_to",
      "Call the function in a migration of your own, as the role that owns the library's"
          + " table."),
  SAY_WHO_CALLS(
      "neither Spring Security nor a CallerResolver",
      "Add spring-boot-starter-security with an AuthenticationProcessInterceptor bean, or declare"
          + " a CallerResolver bean. With Spring Boot 3.5, declare a CallerResolver bean in any case:"
          + " docs/hosts/spring-boot.md."),
  AUTHENTICATE(
      "authenticates the service's calls",
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
      "several StatusSource beans",
      "Remove all but one, or use @Qualifier to give each one the name of a resource type."),
  QUALIFY_THE_RESOLVER(
      "is for no resource type",
      "Give the bean the name of a resource_type, by @Bean(\"order\") or by"
          + " @Qualifier(\"order\")."),
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
      "no bound service has this method",
      "Declare the method's service as a bean, or remove the bean that describes the" + " method."),
  LET_IT_THROUGH(
      "ServerInterceptorFilter removes",
      "Change the filter so that it keeps the library's interceptor for this service."),
  REGISTER_ONCE(
      "is registered twice",
      "Remove @GlobalServerInterceptor from your IdempotencyInterceptor bean, and the"
          + " interceptor from @GrpcService: the starter registers the interceptor."),
  PUT_IT_OUTSIDE(
      "but must run outside",
      "Give that interceptor a lower @Order than grpc.idempotency.interceptor-order, or"
          + " raise that property."),
  CORRECT_IT("", "Correct the problem as its text describes.");

  private final Pattern problem;
  private final String action;

  Remedy(String problem, String action) {
    this.problem = Pattern.compile(problem);
    this.action = action;
  }

  /** Returns the remedy for a problem. */
  static String of(String problem) {
    return Arrays.stream(values())
        .filter(remedy -> remedy.problem.matcher(problem).find())
        .findFirst()
        .orElse(CORRECT_IT)
        .action;
  }
}
