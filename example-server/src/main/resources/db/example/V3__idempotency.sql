-- Registers with the library, after the library's own migrations: the resources that a record may refer to, and the role that
-- serves calls.
SELECT idempotency.add_resource_type('project', 'tenant.projects', 'id');
SELECT idempotency.add_resource_type('project_member', 'tenant.project_members', 'id');
SELECT idempotency.add_resource_type('cluster', 'tenant.clusters', 'id');
SELECT idempotency.add_resource_type('node_pool', 'tenant.node_pools', 'id');
SELECT idempotency.add_resource_type('install', 'tenant.installs', 'id');
SELECT idempotency.add_resource_type('namespace', 'tenant.namespaces', 'id');
SELECT idempotency.add_resource_type('api_key', 'tenant.api_keys', 'id');
SELECT idempotency.add_resource_type('invite', 'tenant.invites', 'id');

SELECT idempotency.grant_to('${app_role}');

-- Clients list their operations; operators and metrics watch the calls in flight.
SELECT idempotency.add_operation_index();
SELECT idempotency.add_in_flight_index();
