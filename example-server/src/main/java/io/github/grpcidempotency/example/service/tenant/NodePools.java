package io.github.grpcidempotency.example.service.tenant;

import io.github.grpcidempotency.example.organization.v1.NodePool;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.statement.StatementContext;

/** {@code tenant.node_pools}. */
public final class NodePools {
  private static final String INSERT =
      """
      INSERT INTO tenant.node_pools (id, user_id, organization, cluster_id, name, node_count)
      SELECT :id, user_id, organization, id, :name, :nodeCount
      FROM tenant.clusters
      WHERE id = :parentId AND organization = :organization
      RETURNING *
      """;

  private static final String LIST =
      """
      SELECT * FROM tenant.node_pools
      WHERE cluster_id = :id AND organization = :organization
      ORDER BY id DESC
      LIMIT 1000
      """;

  private NodePools() {}

  /** Returns empty if the caller sees no such cluster. */
  public static Optional<NodePool> insert(
      CallerHandle tenant, UUID id, UUID clusterId, String name, int nodeCount) {
    return tenant
        .query(INSERT, id)
        .bind("parentId", clusterId)
        .bind("name", name)
        .bind("nodeCount", nodeCount)
        .map(NodePools::nodePool)
        .findOne();
  }

  public static List<NodePool> list(CallerHandle tenant, UUID clusterId) {
    return tenant.query(LIST, clusterId).map(NodePools::nodePool).list();
  }

  private static NodePool nodePool(ResultSet row, StatementContext context) throws SQLException {
    return NodePool.newBuilder()
        .setId(row.getString("id"))
        .setClusterId(row.getString("cluster_id"))
        .setName(row.getString("name"))
        .setNodeCount(row.getInt("node_count"))
        .setCreateTime(Column.created(row))
        .build();
  }
}
