package io.github.grpcidempotency.benchmarks.database;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.jdbi.v3.core.Jdbi;

/**
 * A table of keys in a schema of its own, whole or in hash partitions, to be compared with others.
 *
 * @param schema of the library, for this table
 * @param partitions how many; 1 is a plain table
 */
public record KeyTable(String schema, int partitions) {
  private static final String NAME = "idempotency_keys";

  private static final String LEAVES =
      """
      SELECT CAST(c.oid AS regclass)::text
        FROM pg_class AS c
       WHERE c.relkind = 'r'
         AND (c.oid = '%1$s'::regclass
              OR c.oid IN (SELECT relid FROM pg_partition_tree('%1$s')))
       ORDER BY c.relname
      """;

  /** By the index of the whole table, whatever those of the partitions are called. */
  private static final String INDEXES =
      """
      SELECT c.relname AS name,
             COALESCE(
               (SELECT sum(pg_relation_size(t.relid)) FROM pg_partition_tree(c.oid) AS t WHERE t.isleaf),
               pg_relation_size(c.oid))::float8 AS bytes
        FROM pg_index AS i
        JOIN pg_class AS c ON c.oid = i.indexrelid
       WHERE i.indrelid = '%1$s'::regclass
      """;

  /** Returns how tables of results call it. */
  public String label() {
    return partitions == 1 ? "one table" : partitions + " partitions";
  }

  /** Returns its qualified name. */
  public String table() {
    return schema + "." + NAME;
  }

  /** Makes it, empty, with the service's resource types. */
  public void create(DurableDatabase database) {
    database.migrate(schema);
    if (partitions > 1) {
      database.partition(schema, partitions);
    }
  }

  /** Returns the tables that have rows: itself, or its partitions. */
  public List<String> leaves(Jdbi superuser) {
    return superuser.withHandle(
        handle -> handle.createQuery(LEAVES.formatted(table())).mapTo(String.class).list());
  }

  /** Sets storage parameters of each table that has rows. */
  public void set(Jdbi superuser, String parameters) {
    superuser.useHandle(
        handle -> {
          for (String leaf : leaves(superuser)) {
            handle.execute("ALTER TABLE %s SET (%s)".formatted(leaf, parameters));
          }
        });
  }

  /** Fills it with the records of another table, and vacuums it. */
  public void copyFrom(KeyTable other, Jdbi superuser) {
    superuser.useHandle(
        handle -> {
          handle.execute("SET session_replication_role = replica");
          handle.execute("INSERT INTO %s SELECT * FROM %s".formatted(table(), other.table()));
          handle.execute("VACUUM (FREEZE, ANALYZE) " + table());
        });
  }

  /** Returns keys of so many live records, wherever they are. */
  public List<IdempotencyKey> anyLiveKeys(Jdbi superuser, int count) {
    return keys(superuser, "WHERE expires > now() ORDER BY random()", count);
  }

  /** Returns the keys of the newest records. */
  public List<IdempotencyKey> newestKeys(Jdbi superuser, int count) {
    return keys(superuser, "ORDER BY id DESC", count);
  }

  private List<IdempotencyKey> keys(Jdbi superuser, String order, int count) {
    return superuser.withHandle(
        handle ->
            handle
                .createQuery(
                    "SELECT user_id, idempotency_key FROM %s %s LIMIT %d"
                        .formatted(table(), order, count))
                .map(
                    (row, context) ->
                        new IdempotencyKey(
                            Caller.of(row.getObject("user_id", UUID.class)),
                            row.getString("idempotency_key")))
                .list());
  }

  /** Returns the bytes of rows without their indexes. */
  public double heapBytes(Jdbi superuser) {
    return superuser.withHandle(
        handle ->
            leaves(superuser).stream()
                .mapToDouble(
                    leaf ->
                        handle
                            .createQuery("SELECT pg_table_size('%s')".formatted(leaf))
                            .mapTo(Double.class)
                            .one())
                .sum());
  }

  /** Returns the bytes of each index that has any to speak of, by its name. */
  public Map<String, Double> indexBytes(Jdbi superuser) {
    Map<String, Double> bytes = new TreeMap<>();
    superuser.useHandle(
        handle ->
            handle
                .createQuery(INDEXES.formatted(table()))
                .map((row, context) -> Map.entry(row.getString("name"), row.getDouble("bytes")))
                .forEach(each -> bytes.put(each.getKey(), each.getValue())));
    double most = bytes.values().stream().mapToDouble(each -> each).max().orElse(0);
    bytes.values().removeIf(each -> each < most / 100);
    return bytes;
  }
}
