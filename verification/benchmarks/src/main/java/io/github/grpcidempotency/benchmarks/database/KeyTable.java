package io.github.grpcidempotency.benchmarks.database;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import java.util.List;
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

  /** Returns its name in tables of results. */
  public String label() {
    return partitions == 1 ? "one table" : partitions + " partitions";
  }

  /** Returns its qualified name. */
  public String table() {
    return schema + "." + NAME;
  }

  /** Creates it, empty, with the service's resource types. */
  public void create(DurableDatabase database) {
    database.migrate(schema);
    if (partitions > 1) {
      database.partition(schema, partitions);
    }
  }

  /** Returns the tables that have rows: itself, or its partitions. */
  public List<String> leaves(Jdbi superuser) {
    return superuser.withHandle(
        handle ->
            handle
                .createQuery(DurableDatabase.script("leaves").formatted(table()))
                .mapTo(String.class)
                .list());
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

  /** Returns the keys of some records, in an order, from the records that a condition selects. */
  public List<IdempotencyKey> keys(Jdbi superuser, String order, int count) {
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

  /** Returns its size in bytes, with its indexes. */
  public double bytes(Jdbi superuser) {
    return superuser.withHandle(
        handle ->
            leaves(superuser).stream()
                .mapToDouble(
                    leaf ->
                        handle
                            .createQuery("SELECT pg_total_relation_size('%s')".formatted(leaf))
                            .mapTo(Double.class)
                            .one())
                .sum());
  }
}
