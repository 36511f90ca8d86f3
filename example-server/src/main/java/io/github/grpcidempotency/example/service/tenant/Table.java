package io.github.grpcidempotency.example.service.tenant;

import com.google.protobuf.Message;
import io.github.grpcidempotency.resource.ResourceType;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jdbi.v3.core.mapper.RowMapper;
import org.jdbi.v3.core.statement.Query;

/**
 * One table of resources. All tables have the same structure: a row has an id, belongs to a user in
 * an organization, and has a parent that must be visible when the row is written.
 *
 * @param type the type of a row, by which the library and the outbox refer to it
 * @param name of the table
 * @param parent the table of the parents
 * @param parentColumn refers to the parent
 * @param told the columns that clients see, each with the name of a field of the message @param
 *     message the message that clients get for a row
 */
public record Table<M extends Message>(
    ResourceType type,
    String name,
    String parent,
    String parentColumn,
    String told,
    RowMapper<M> message) {

  private static final String INSERT =
      """
      INSERT INTO <name> (id, user_id, organization, <parentColumn>, <columns>)
      SELECT :id, :userId, organization, id, <values>
      FROM <parent>
      WHERE id = :parentId AND organization = :organization
      RETURNING <told>
      """;

  private static final String INSERT_ON_TOP =
      """
      INSERT INTO <name> (id, user_id, organization, <columns>)
      VALUES (:id, :userId, :organization, <values>)
      RETURNING <told>
      """;

  private static final String FIND =
      """
      SELECT <told> FROM <name>
      WHERE id = :id AND organization = :organization
      """;

  static <M extends Message> Table<M> of(String type, M prototype, String name, String told) {
    return new Table<>(ResourceType.of(type), name, "", "", told, MessageRow.of(prototype));
  }

  Table<M> below(String parentTable, String column) {
    return new Table<>(type, name, parentTable, column, told, message);
  }

  /** Inserts a row below a parent; returns empty if the caller sees no such parent. */
  public Optional<M> insert(CallerHandle tenant, UUID id, UUID parentId, Map<String, ?> values) {
    return inserting(tenant, INSERT, id, values).bind("parentId", parentId).map(message).findOne();
  }

  /** Inserts a row without a parent. */
  public M insert(CallerHandle tenant, UUID id, Map<String, ?> values) {
    return inserting(tenant, INSERT_ON_TOP, id, values).map(message).one();
  }

  private Query inserting(CallerHandle tenant, String sql, UUID id, Map<String, ?> values) {
    Collection<String> columns = values.keySet();
    return query(tenant, sql)
        .define("columns", String.join(", ", columns))
        .define("values", columns.stream().map(":"::concat).collect(Collectors.joining(", ")))
        .bind("id", id)
        .bindMap(values);
  }

  /** Returns a row, if the caller sees it. */
  public Optional<M> find(CallerHandle tenant, UUID id) {
    return query(tenant, FIND).bind("id", id).map(message).findOne();
  }

  private Query query(CallerHandle tenant, String sql) {
    return tenant
        .query(sql)
        .define("name", name)
        .define("parent", parent)
        .define("parentColumn", parentColumn)
        .define("told", told);
  }
}
