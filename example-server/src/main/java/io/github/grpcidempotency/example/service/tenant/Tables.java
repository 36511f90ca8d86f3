package io.github.grpcidempotency.example.service.tenant;

import io.github.grpcidempotency.example.organization.v1.APIKey;
import io.github.grpcidempotency.example.organization.v1.Cluster;
import io.github.grpcidempotency.example.organization.v1.Install;
import io.github.grpcidempotency.example.organization.v1.Invite;
import io.github.grpcidempotency.example.organization.v1.Namespace;
import io.github.grpcidempotency.example.organization.v1.NodePool;
import io.github.grpcidempotency.example.organization.v1.Project;
import io.github.grpcidempotency.example.organization.v1.ProjectMember;

/** The tables and their columns. */
public final class Tables {
  public static final Table<Project> PROJECTS =
      Table.of(
          "project",
          Project.getDefaultInstance(),
          "tenant.projects",
          "id, name, organization, created AS create_time");

  public static final Table<ProjectMember> PROJECT_MEMBERS =
      Table.of(
              "project_member",
              ProjectMember.getDefaultInstance(),
              "tenant.project_members",
              "id, project_id, member_user_id AS user_id, role, created AS create_time")
          .below("tenant.projects", "project_id");

  public static final Table<Cluster> CLUSTERS =
      Table.of(
              "cluster",
              Cluster.getDefaultInstance(),
              "tenant.clusters",
              "id, project_id, name, region, machine, created AS create_time")
          .below("tenant.projects", "project_id");

  public static final Table<NodePool> NODE_POOLS =
      Table.of(
              "node_pool",
              NodePool.getDefaultInstance(),
              "tenant.node_pools",
              "id, cluster_id, name, node_count, created AS create_time")
          .below("tenant.clusters", "cluster_id");

  public static final Table<Install> INSTALLS =
      Table.of(
              "install",
              Install.getDefaultInstance(),
              "tenant.installs",
              "id AS uid, install_id AS id, cluster_id, name, version, created AS create_time")
          .below("tenant.clusters", "cluster_id");

  public static final Table<Namespace> NAMESPACES =
      Table.of(
              "namespace",
              Namespace.getDefaultInstance(),
              "tenant.namespaces",
              "id, project_id, name, created AS create_time")
          .below("tenant.projects", "project_id");

  public static final Table<APIKey> API_KEYS =
      Table.of(
              "api_key",
              APIKey.getDefaultInstance(),
              "tenant.api_keys",
              "id, project_id, name, created AS create_time, revoked AS revoke_time")
          .below("tenant.projects", "project_id");

  public static final Table<Invite> INVITES =
      Table.of(
          "invite",
          Invite.getDefaultInstance(),
          "tenant.invites",
          "id, organization, email, role, created AS create_time");

  private Tables() {}
}
