package io.github.grpcidempotency.example.service.tenant;

import io.github.grpcidempotency.procedure.ResourceType;

/** What can be created. */
public final class Resources {
  public static final ResourceType PROJECT = ResourceType.of("project");
  public static final ResourceType PROJECT_MEMBER = ResourceType.of("project_member");
  public static final ResourceType CLUSTER = ResourceType.of("cluster");
  public static final ResourceType NODE_POOL = ResourceType.of("node_pool");
  public static final ResourceType INSTALL = ResourceType.of("install");
  public static final ResourceType NAMESPACE = ResourceType.of("namespace");
  public static final ResourceType API_KEY = ResourceType.of("api_key");
  public static final ResourceType INVITE = ResourceType.of("invite");
  public static final ResourceType WEBHOOK = ResourceType.of("webhook");
  public static final ResourceType WEBHOOK_DELIVERY = ResourceType.of("webhook_delivery");

  private Resources() {}
}
