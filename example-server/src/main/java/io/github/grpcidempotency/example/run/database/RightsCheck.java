package io.github.grpcidempotency.example.run.database;

import java.util.List;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;

/** Checks that the roles have the rights that they need, before a call fails without them. */
public final class RightsCheck {
  private static final String MISSING_TO_APP =
      """
      SELECT needed.relation
      FROM unnest(ARRAY[
        'tenant.projects', 'tenant.project_members', 'tenant.clusters', 'tenant.node_pools',
        'tenant.installs', 'tenant.namespaces', 'tenant.api_keys', 'tenant.invites',
        'tenant.deleted_namespaces', 'tenant.webhook_deliveries', 'authz.outbox'
      ]) AS needed (relation)
      WHERE NOT has_table_privilege(needed.relation, 'SELECT')
        OR NOT has_table_privilege(needed.relation, 'INSERT')
      UNION ALL
      SELECT 'tenant.api_keys'
      WHERE NOT has_column_privilege('tenant.api_keys', 'revoked', 'UPDATE')
      UNION ALL
      SELECT deleted.relation
      FROM unnest(ARRAY['tenant.namespaces', 'authz.tuples']) AS deleted (relation)
      WHERE NOT has_table_privilege(deleted.relation, 'DELETE')
      UNION ALL
      SELECT 'tenant.webhooks'
      WHERE NOT has_table_privilege('tenant.webhooks', 'INSERT')
        OR NOT has_function_privilege('tenant.find_webhook(text)', 'EXECUTE')
      """;

  private static final String MISSING_TO_WORKER =
      """
      SELECT 'authz.outbox'
      WHERE NOT has_table_privilege('authz.outbox', 'SELECT')
        OR NOT has_column_privilege('authz.outbox', 'status', 'UPDATE')
      UNION ALL
      SELECT 'authz.tuples'
      WHERE NOT has_table_privilege('authz.tuples', 'INSERT')
      UNION ALL
      SELECT 'billing.usage_statements'
      WHERE NOT has_table_privilege('billing.usage_statements', 'INSERT')
      """;

  private RightsCheck() {}

  /**
   * Does nothing if both roles have their rights.
   *
   * @throws StartupFailure if one has not
   */
  public static void run(DataSource app, DataSource worker) {
    check("that serves calls", app, MISSING_TO_APP);
    check("that drains the outbox", worker, MISSING_TO_WORKER);
  }

  private static void check(String role, DataSource dataSource, String missingRights) {
    List<String> missing;
    try {
      missing =
          Jdbi.create(dataSource)
              .withHandle(handle -> handle.createQuery(missingRights).mapTo(String.class).list());
    } catch (JdbiException e) {
      throw StartupFailure.because("The role %s cannot be used".formatted(role), e);
    }
    if (!missing.isEmpty()) {
      throw new StartupFailure(
          "The role %s lacks rights on %s; the migrations grant them to the role that they are given."
              .formatted(role, String.join(", ", missing)));
    }
  }
}
