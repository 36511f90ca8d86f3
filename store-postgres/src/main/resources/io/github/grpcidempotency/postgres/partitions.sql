-- Moves the table of keys to hash partitions: partition_keys a new or small table, move_to_partitions a table that servers use.
-- Only a database that needs partitions needs these functions. Run this file after the migrations, as the owner of the tables; it can
-- be run again. ${schema} is the library's schema.
--
-- A partition contains the keys of one hash of key and user, so that a caller's key is unique across all partitions. The twin, which
-- replaces the table, is derived from the table, so it has all columns, indexes and rights that later migrations or the host added.

-- Creates the twin: partitioned, empty, and accessible to its owner only. install_twin adds policies and rights.
CREATE OR REPLACE FUNCTION "${schema}".make_twin(partitions integer) RETURNS void
  LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  keys    CONSTANT regclass := '"${schema}".idempotency_keys'::regclass;
  twin    CONSTANT text := '"${schema}".idempotency_keys_twin';
  owner   CONSTANT regrole := (SELECT c.relowner FROM pg_class AS c WHERE c.oid = keys);
  lost    text;
  options text;
  part    text;
  found   record;
BEGIN
  IF COALESCE(partitions NOT BETWEEN 2 AND 1024, true) THEN
    RAISE EXCEPTION 'a table has 2 to 1024 partitions, not %', partitions USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF (SELECT c.relkind FROM pg_class AS c WHERE c.oid = keys) <> 'r' THEN
    RAISE EXCEPTION 'the table ${schema}.idempotency_keys is partitioned already';
  END IF;
  IF owner::oid <> (SELECT r.oid FROM pg_roles AS r WHERE r.rolname = current_user) THEN
    RAISE EXCEPTION 'only the owner of ${schema}.idempotency_keys can partition it' USING HINT = format('SET ROLE %s', owner);
  END IF;
  SELECT string_agg(o.thing, ', ' ORDER BY o.thing)
    INTO lost
    FROM (SELECT 'the trigger ' || t.tgname AS thing FROM pg_trigger AS t WHERE t.tgrelid = keys AND NOT t.tgisinternal
          UNION
          SELECT 'the rule ' || r.rulename FROM pg_rewrite AS r WHERE r.ev_class = keys
          UNION
          SELECT 'the view ' || r.ev_class::regclass
            FROM pg_depend AS d
            JOIN pg_rewrite AS r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
           WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = keys AND r.ev_class <> keys
          UNION
          SELECT 'the foreign key ' || c.conname || ' of ' || c.conrelid::regclass
            FROM pg_constraint AS c WHERE c.contype = 'f' AND c.confrelid = keys
          UNION
          SELECT 'the publication ' || p.pubname
            FROM pg_publication_rel AS r JOIN pg_publication AS p ON p.oid = r.prpubid WHERE r.prrelid = keys
          UNION
          SELECT 'the child table ' || i.inhrelid::regclass FROM pg_inherits AS i WHERE i.inhparent = keys) AS o;
  IF lost IS NOT NULL THEN
    RAISE EXCEPTION 'the table ${schema}.idempotency_keys has what partitions would lose: %', lost
      USING HINT = 'Drop it, and make it again afterwards.';
  END IF;

  -- The unique constraint becomes the primary key, which replication needs.
  EXECUTE format(
    'CREATE TABLE %s (LIKE "${schema}".idempotency_keys INCLUDING ALL EXCLUDING INDEXES,'
    ' CONSTRAINT idempotency_keys_twin_key PRIMARY KEY (idempotency_key, user_uuid, tenant, project))'
    ' PARTITION BY HASH (idempotency_key, user_uuid)', twin);
  FOR found IN
    SELECT c.conname, regexp_replace(pg_get_constraintdef(c.oid), ' NOT VALID$', '') AS definition
      FROM pg_constraint AS c
     WHERE c.conrelid = keys AND c.contype = 'f'
  LOOP
    EXECUTE format('ALTER TABLE %s ADD CONSTRAINT %I %s', twin, found.conname, found.definition);
  END LOOP;
  -- A partitioned table has no settings of storage and vacuum: each partition gets them.
  SELECT ' WITH (' || string_agg(o.option, ', ') || ')'
    INTO options
    FROM (SELECT unnest(c.reloptions) AS option FROM pg_class AS c WHERE c.oid = keys
          UNION ALL
          SELECT 'toast.' || unnest(t.reloptions)
            FROM pg_class AS c JOIN pg_class AS t ON t.oid = c.reltoastrelid WHERE c.oid = keys) AS o;
  -- Rows are accessed through the table, whose policies apply there. A partition itself shows its rows to nobody, but to its owner
  -- those that a sweep deletes.
  FOR i IN 0 .. partitions - 1 LOOP
    part := format('"${schema}".idempotency_keys_p%s', i);
    EXECUTE format(
      'CREATE TABLE %1$s PARTITION OF %2$s FOR VALUES WITH (MODULUS %3$s, REMAINDER %4$s)%5$s;'
      'ALTER INDEX %1$s_pkey RENAME TO idempotency_keys_p%4$s_key;'
      'ALTER TABLE %1$s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;'
      'CREATE POLICY maintenance ON %1$s FOR ALL TO CURRENT_USER USING (completed IS NULL OR expires <= now())',
      part, twin, partitions, i, options);
  END LOOP;

  PERFORM "${schema}".keep_for_owner('idempotency_keys_twin');
  PERFORM "${schema}".keep_for_owner('idempotency_keys_p' || p) FROM generate_series(0, partitions - 1) AS p;

  -- An index without key and user, such as that of the id, cannot be unique across partitions.
  FOR found IN
    SELECT row_number() OVER (ORDER BY c.relname) AS n,
           substring(pg_get_indexdef(i.indexrelid) FROM ' USING .*$') AS definition,
           i.indisunique AND ARRAY(SELECT a.attname::text
                                     FROM unnest(i.indkey::smallint[]) AS k (attnum)
                                     JOIN pg_attribute AS a ON a.attrelid = keys AND a.attnum = k.attnum
                                    ORDER BY 1) @> ARRAY['idempotency_key', 'project', 'tenant', 'user_uuid'] AS is_unique
      FROM pg_index AS i
      JOIN pg_class AS c ON c.oid = i.indexrelid
     WHERE i.indrelid = keys AND i.indisvalid AND c.relname <> 'idempotency_keys_key'
  LOOP
    EXECUTE format(
      'CREATE %s INDEX idempotency_keys_twin_%s ON %s%s',
      CASE WHEN found.is_unique THEN 'UNIQUE' END, found.n, twin, found.definition);
  END LOOP;
END;
$$;

-- Puts the twin in the place of the table, and renames the table to idempotency_keys_retired. The caller has locked both.
CREATE OR REPLACE FUNCTION "${schema}".install_twin() RETURNS void
  LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  keys  CONSTANT regclass := '"${schema}".idempotency_keys'::regclass;
  twin  CONSTANT regclass := '"${schema}".idempotency_keys_twin'::regclass;
  found record;
BEGIN
  FOR found IN
    SELECT p.polname, p.polpermissive, p.polcmd,
           (SELECT string_agg(CASE r.oid WHEN 0 THEN 'PUBLIC' ELSE r.oid::regrole::text END, ', ')
              FROM unnest(p.polroles) AS r (oid)) AS roles,
           pg_get_expr(p.polqual, p.polrelid) AS shown,
           pg_get_expr(p.polwithcheck, p.polrelid) AS written
      FROM pg_policy AS p
     WHERE p.polrelid = keys
  LOOP
    EXECUTE format(
      'CREATE POLICY %I ON %s AS %s FOR %s TO %s%s%s',
      found.polname, twin,
      CASE WHEN found.polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END,
      CASE found.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE' ELSE 'ALL' END,
      found.roles,
      ' USING (' || found.shown || ')',
      ' WITH CHECK (' || found.written || ')');
  END LOOP;
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', twin);

  FOR found IN
    SELECT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS grantee, a.privilege_type, a.is_grantable
      FROM pg_class AS c, aclexplode(c.relacl) AS a
     WHERE c.oid = keys AND a.grantee <> c.relowner
  LOOP
    EXECUTE format(
      'GRANT %s ON %s TO %s%s', found.privilege_type, twin, found.grantee,
      CASE WHEN found.is_grantable THEN ' WITH GRANT OPTION' END);
  END LOOP;
  EXECUTE format('COMMENT ON TABLE %s IS %L', twin, obj_description(keys, 'pg_class'));

  -- An index of the twin takes the name of the table's index with the same definition.
  FOR found IN
    WITH indexes AS (
      SELECT i.indexrelid, i.indrelid, d.definition,
             CASE WHEN i.indisprimary AND i.indrelid = keys THEN 'idempotency_keys_id' ELSE c.relname END AS name,
             row_number() OVER (PARTITION BY i.indrelid, d.definition ORDER BY i.indisvalid DESC, c.relname) AS nth
        FROM pg_index AS i
        JOIN pg_class AS c ON c.oid = i.indexrelid
       CROSS JOIN LATERAL (SELECT substring(pg_get_indexdef(i.indexrelid) FROM ' USING .*$')) AS d (definition)
       WHERE i.indrelid IN (keys, twin)
    )
    SELECT old.indexrelid::regclass AS old, new.indexrelid::regclass AS new, old.name, row_number() OVER () AS n
      FROM indexes AS old
      LEFT JOIN indexes AS new ON new.indrelid = twin AND new.definition = old.definition AND new.nth = old.nth
     WHERE old.indrelid = keys
  LOOP
    EXECUTE format('ALTER INDEX %s RENAME TO idempotency_keys_retired_%s', found.old, found.n);
    IF found.new IS NOT NULL THEN -- otherwise the table's index is invalid
      EXECUTE format('ALTER INDEX %s RENAME TO %I', found.new, found.name);
    END IF;
  END LOOP;
  ALTER TABLE "${schema}".idempotency_keys RENAME TO idempotency_keys_retired;
  ALTER TABLE "${schema}".idempotency_keys_twin RENAME TO idempotency_keys;
END;
$$;

-- The columns of the table that are not generated, each formatted.
CREATE OR REPLACE FUNCTION "${schema}".columns_of_keys(form text) RETURNS text
  LANGUAGE sql STABLE
  SET search_path = pg_catalog, pg_temp
AS $$
  SELECT string_agg(format(form, a.attname), ', ' ORDER BY a.attnum)
    FROM pg_attribute AS a
   WHERE a.attrelid = '"${schema}".idempotency_keys'::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '';
$$;

-- Moves the table in one transaction, which locks the table. For a table that is new or small, or whose servers are stopped.
CREATE OR REPLACE FUNCTION "${schema}".partition_keys(partitions integer) RETURNS void
  LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp
  SET row_security = off -- a query that row-level security would filter fails
AS $$
BEGIN
  IF to_regclass('"${schema}".idempotency_keys_twin') IS NOT NULL THEN
    RAISE EXCEPTION 'a move to partitions is under way: go on with CALL ${schema}.move_to_partitions(...),'
      ' or end it with CALL ${schema}.abort_move()';
  END IF;
  LOCK TABLE "${schema}".idempotency_keys IN ACCESS EXCLUSIVE MODE;
  PERFORM "${schema}".make_twin(partitions);
  ALTER TABLE "${schema}".idempotency_keys NO FORCE ROW LEVEL SECURITY;
  EXECUTE format(
    'INSERT INTO "${schema}".idempotency_keys_twin (%1$s) SELECT %1$s FROM "${schema}".idempotency_keys',
    "${schema}".columns_of_keys('%I'));
  ANALYZE "${schema}".idempotency_keys_twin; -- autovacuum analyses partitions only
  PERFORM "${schema}".install_twin();
  DROP TABLE "${schema}".idempotency_keys_retired;
END;
$$;

-- A table in use moves in steps, each of which is a transaction, so that the move can be killed and called again at any time:
--   prepare  creates the twin;
--   mirror   adds a trigger that repeats every change of the table on the twin;
--   copy     copies the rows, in batches in the order of ids;
--   check    compares both tables, in batches, by every column;
--   swap     gives the twin the table's name;
--   drop     drops the old table.
-- Before the swap, abort_move takes these instead:
--   unmirror drops the trigger;
--   abort    drops the twin.

-- Fails if the twin is no copy of the table any more, or if row-level security may hide rows from the owner. The policy operators must
-- be what the migration made: it is compared with a new policy of that text, as PostgreSQL prints both.
CREATE OR REPLACE FUNCTION "${schema}".check_twin() RETURNS void
  LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  keys   CONSTANT regclass := '"${schema}".idempotency_keys'::regclass;
  twin   CONSTANT regclass := '"${schema}".idempotency_keys_twin'::regclass;
  shapes integer;
BEGIN
  CREATE POLICY operators ON "${schema}".idempotency_keys_twin
    FOR ALL TO CURRENT_USER
    USING (current_setting('idempotency.operator', true) = 'on');
  IF EXISTS (SELECT FROM pg_policy AS p WHERE p.polrelid = keys AND NOT p.polpermissive)
     OR NOT EXISTS (
       SELECT
         FROM pg_policy AS p
         JOIN pg_policy AS made USING (polname, polcmd, polroles)
        WHERE p.polrelid = keys
          AND made.polrelid = twin
          AND pg_get_expr(p.polqual, keys) = pg_get_expr(made.polqual, twin))
  THEN
    RAISE EXCEPTION 'a restrictive policy, or a changed policy operators, may hide rows of ${schema}.idempotency_keys from the move';
  END IF;
  DROP POLICY operators ON "${schema}".idempotency_keys_twin;

  SELECT count(DISTINCT shape)
    INTO shapes
    FROM unnest(ARRAY[keys, twin]) AS t (oid)
   CROSS JOIN LATERAL (
     SELECT array_agg(o.thing ORDER BY o.thing)
       FROM (SELECT format('%s %s %s %s', a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
                           pg_get_expr(d.adbin, d.adrelid)) AS thing
               FROM pg_attribute AS a
               LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
              WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
             UNION ALL
             SELECT regexp_replace(pg_get_constraintdef(c.oid), ' NOT VALID$', '')
               FROM pg_constraint AS c
              WHERE c.conrelid = t.oid AND c.contype IN ('c', 'f')
             UNION ALL
             SELECT substring(pg_get_indexdef(i.indexrelid) FROM ' USING .*$')
               FROM pg_index AS i
              WHERE i.indrelid = t.oid AND i.indisvalid) AS o) AS s (shape);
  IF shapes > 1 THEN
    RAISE EXCEPTION 'the table ${schema}.idempotency_keys has been altered since the move began: end the move with'
      ' CALL ${schema}.abort_move(), and begin again';
  END IF;
END;
$$;

-- Creates the trigger's function for the columns that the table has now. It runs as the owner, who may write to the twin.
CREATE OR REPLACE FUNCTION "${schema}".make_mirror() RETURNS void
  LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  EXECUTE format(
    $function$
      CREATE FUNCTION "${schema}".mirror_on_twin() RETURNS trigger
        LANGUAGE plpgsql SECURITY DEFINER
        SET search_path = pg_catalog, pg_temp
      AS $mirror$
      BEGIN
        IF TG_OP = 'TRUNCATE' THEN
          TRUNCATE "${schema}".idempotency_keys_twin;
          RETURN NULL;
        END IF;
        IF TG_OP = 'DELETE' OR (TG_OP = 'UPDATE'
             AND (OLD.idempotency_key, OLD.user_uuid, OLD.tenant, OLD.project)
               IS DISTINCT FROM (NEW.idempotency_key, NEW.user_uuid, NEW.tenant, NEW.project)) THEN
          IF current_setting('transaction_isolation') NOT LIKE 'read %%' THEN
            -- A copy that is newer than this transaction's snapshot would be invisible and stay. On such a copy, this fails.
            INSERT INTO "${schema}".idempotency_keys_twin (%1$s) VALUES (%4$s)
            ON CONFLICT (idempotency_key, user_uuid, tenant, project) DO UPDATE SET attempt = EXCLUDED.attempt;
          END IF;
          DELETE FROM "${schema}".idempotency_keys_twin AS k
           WHERE k.idempotency_key = OLD.idempotency_key AND k.user_uuid = OLD.user_uuid
             AND k.tenant = OLD.tenant AND k.project = OLD.project;
        END IF;
        IF TG_OP <> 'DELETE' THEN
          INSERT INTO "${schema}".idempotency_keys_twin (%1$s) VALUES (%2$s)
          ON CONFLICT (idempotency_key, user_uuid, tenant, project) DO UPDATE SET %3$s;
        END IF;
        RETURN NULL;
      END;
      $mirror$
    $function$,
    "${schema}".columns_of_keys('%I'), "${schema}".columns_of_keys('NEW.%I'), "${schema}".columns_of_keys('%1$I = EXCLUDED.%1$I'),
    "${schema}".columns_of_keys('OLD.%I'));
  PERFORM "${schema}".keep_for_owner('mirror_on_twin');
END;
$$;

-- Takes one step, or one batch of a step. It waits for a lock no longer than patience, because all later calls wait behind it. If the
-- lock is not granted in time, nothing has changed: call the function again.
CREATE OR REPLACE FUNCTION "${schema}".move_step(
    partitions integer, batch integer, patience interval, OUT step text, OUT rows bigint, OUT waited boolean, OUT ended boolean)
  LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  first  CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
  before uuid;   -- the id that the batches before this one have reached
  last   uuid;
  found  bigint;
  wrong  bigint;
  doomed text;
  key    name;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'a table is moved in read committed transactions, not %', current_setting('transaction_isolation');
  END IF;
  IF COALESCE(batch < 1 OR patience <= interval '0', true) THEN
    RAISE EXCEPTION 'a batch has at least one row, and patience takes some time' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  waited := false;
  ended := false;
  step := 'prepare';
  rows := 0;
  IF to_regclass('"${schema}".idempotency_move') IS NOT NULL THEN
    SELECT m.step, m.upto, m.rows INTO step, before, rows FROM "${schema}".idempotency_move AS m FOR UPDATE;
  END IF;
  PERFORM set_config('lock_timeout', (extract(epoch FROM patience) * 1000)::integer::text, true);
  PERFORM "${schema}".see_all_rows(); -- otherwise forced row-level security would hide rows from the copy and from the check
  IF step IN ('mirror', 'copy', 'check') THEN
    PERFORM "${schema}".check_twin();
  END IF;

  CASE step
    WHEN 'prepare' THEN
      PERFORM "${schema}".make_twin(partitions);
      PERFORM "${schema}".check_twin();
      PERFORM "${schema}".make_mirror();
      CREATE TABLE "${schema}".idempotency_move (partitions integer NOT NULL, step text NOT NULL, upto uuid NOT NULL, rows bigint NOT NULL);
      PERFORM "${schema}".keep_for_owner('idempotency_move');
      INSERT INTO "${schema}".idempotency_move VALUES (partitions, 'mirror', first, 0);

    WHEN 'mirror' THEN
      -- Once this is committed, every transaction that wrote without the triggers has ended.
      CREATE TRIGGER mirror_on_twin AFTER INSERT OR UPDATE OR DELETE ON "${schema}".idempotency_keys
        FOR EACH ROW EXECUTE FUNCTION "${schema}".mirror_on_twin();
      CREATE TRIGGER mirror_truncate_on_twin AFTER TRUNCATE ON "${schema}".idempotency_keys
        FOR EACH STATEMENT EXECUTE FUNCTION "${schema}".mirror_on_twin();
      ALTER TABLE "${schema}".idempotency_keys
        ENABLE ALWAYS TRIGGER mirror_on_twin, ENABLE ALWAYS TRIGGER mirror_truncate_on_twin;
      UPDATE "${schema}".idempotency_move AS m SET step = 'copy';

    WHEN 'copy' THEN
      -- A locked row is not deleted before its copy is committed. A transaction that then changes the row also changes the copy.
      EXECUTE format(
        'WITH batch AS ('
        '  SELECT %1$s FROM "${schema}".idempotency_keys AS k WHERE k.id > $1 ORDER BY k.id LIMIT $2 FOR KEY SHARE'
        '), copied AS ('
        '  INSERT INTO "${schema}".idempotency_keys_twin (%1$s) SELECT %1$s FROM batch'
        '  ON CONFLICT (idempotency_key, user_uuid, tenant, project) DO NOTHING'
        ')'
        ' SELECT count(*), (SELECT b.id FROM batch AS b ORDER BY b.id DESC LIMIT 1) FROM batch',
        "${schema}".columns_of_keys('%I'))
        INTO found, last
        USING before, batch;
      rows := rows + found;
      IF found > 0 THEN
        UPDATE "${schema}".idempotency_move AS m SET upto = last, rows = move_step.rows;
      ELSIF NOT EXISTS (SELECT FROM "${schema}".idempotency_keys AS k WHERE k.id > before) THEN
        ANALYZE "${schema}".idempotency_keys_twin;
        UPDATE "${schema}".idempotency_move AS m SET step = 'check', upto = first, rows = 0;
      END IF;

    WHEN 'check' THEN
      SELECT k.id INTO last
        FROM "${schema}".idempotency_keys AS k WHERE k.id > before ORDER BY k.id OFFSET batch - 1 LIMIT 1;
      -- One statement sees both tables at the same moment, and every transaction has changed both.
      EXECUTE
        'WITH kept AS ('
        '  SELECT k.* FROM "${schema}".idempotency_keys AS k WHERE k.id > $1 AND k.id <= $2'
        '), copied AS ('
        '  SELECT k.* FROM "${schema}".idempotency_keys_twin AS k WHERE k.id > $1 AND k.id <= $2'
        ')'
        ' SELECT count(kept.id), count(*) FILTER (WHERE (kept *= copied) IS NOT TRUE)'
        '   FROM kept FULL JOIN copied USING (id, idempotency_key, user_uuid)'
        INTO found, wrong
        USING before, COALESCE(last, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
      IF wrong > 0 THEN
        RAISE EXCEPTION '% rows of the twin differ from those of ${schema}.idempotency_keys: end the move with'
          ' CALL ${schema}.abort_move()', wrong;
      END IF;
      rows := rows + found;
      UPDATE "${schema}".idempotency_move AS m
         SET step = CASE WHEN last IS NULL THEN 'swap' ELSE 'check' END, upto = COALESCE(last, upto), rows = move_step.rows;

    WHEN 'swap' THEN
      LOCK TABLE "${schema}".idempotency_keys, ONLY "${schema}".idempotency_keys_twin IN ACCESS EXCLUSIVE MODE;
      PERFORM "${schema}".check_twin();
      IF 2 <> (SELECT count(*) FROM pg_trigger AS t WHERE t.tgrelid = '"${schema}".idempotency_keys'::regclass AND t.tgenabled = 'A') THEN
        RAISE EXCEPTION 'the triggers of the move are not there, or not enabled: end it with CALL ${schema}.abort_move()';
      END IF;
      -- The deletion of a resource still changes the old table, and must not fire them.
      DROP TRIGGER mirror_on_twin ON "${schema}".idempotency_keys;
      DROP TRIGGER mirror_truncate_on_twin ON "${schema}".idempotency_keys;
      PERFORM "${schema}".install_twin();
      DROP FUNCTION "${schema}".mirror_on_twin();
      UPDATE "${schema}".idempotency_move AS m SET step = 'drop';

    WHEN 'unmirror' THEN
      DROP TRIGGER IF EXISTS mirror_on_twin ON "${schema}".idempotency_keys;
      DROP TRIGGER IF EXISTS mirror_truncate_on_twin ON "${schema}".idempotency_keys;
      DROP FUNCTION "${schema}".mirror_on_twin();
      UPDATE "${schema}".idempotency_move AS m SET step = 'abort';

    WHEN 'drop', 'abort' THEN
      doomed := '"${schema}".idempotency_keys_' || CASE step WHEN 'drop' THEN 'retired' ELSE 'twin' END;
      -- One foreign key after the other, so that no two of the host's tables are locked at the same time.
      SELECT c.conname INTO key FROM pg_constraint AS c WHERE c.conrelid = doomed::regclass AND c.contype = 'f' LIMIT 1;
      IF FOUND THEN
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', doomed, key);
      ELSE
        EXECUTE format('DROP TABLE %s, "${schema}".idempotency_move', doomed);
        ended := true;
      END IF;
  END CASE;
  PERFORM set_config('idempotency.operator', 'off', true);
EXCEPTION
  WHEN lock_not_available OR deadlock_detected THEN
    waited := true;
END;
$$;

-- Takes steps until the last, and commits each. Every tenth attempt at a lock waits four times as long, because only a wait of more than
-- a second interrupts an autovacuum.
CREATE OR REPLACE PROCEDURE "${schema}".take_steps(partitions integer, batch integer, patience interval)
  LANGUAGE plpgsql
AS $$
DECLARE
  taken    record;
  attempts integer := 0;
  reported timestamptz := 'epoch';
  last     text := '';
BEGIN
  LOOP
    taken := "${schema}".move_step(partitions, batch, patience * CASE WHEN attempts % 10 = 9 THEN 4 ELSE 1 END);
    COMMIT;
    IF taken.step <> last OR clock_timestamp() > reported + interval '5 seconds' THEN
      RAISE NOTICE '%: % rows%', taken.step, taken.rows, CASE WHEN taken.waited THEN ', waits for a lock' ELSE '' END;
      last := taken.step;
      reported := clock_timestamp();
    END IF;
    EXIT WHEN taken.ended;
    IF taken.waited THEN
      attempts := attempts + 1;
      PERFORM pg_sleep(0.1 + random());
    ELSE
      attempts := 0;
    END IF;
  END LOOP;
END;
$$;

-- Moves a table that servers use. Call it outside a transaction, as the owner. If it fails or is killed, call it again, and it continues;
-- or call abort_move.
CREATE OR REPLACE PROCEDURE "${schema}".move_to_partitions(
    partitions integer, batch integer DEFAULT 5000, patience interval DEFAULT '500 ms')
  LANGUAGE plpgsql
AS $$
DECLARE
  move record;
BEGIN
  IF to_regclass('"${schema}".idempotency_move') IS NOT NULL THEN
    SELECT m.* INTO move FROM "${schema}".idempotency_move AS m;
    IF move.step IN ('unmirror', 'abort') THEN
      RAISE EXCEPTION 'the move is being ended: CALL ${schema}.abort_move()';
    ELSIF move.partitions IS DISTINCT FROM partitions THEN
      RAISE EXCEPTION 'a move to % partitions is under way: go on with it, or end it with CALL ${schema}.abort_move()', move.partitions;
    END IF;
  END IF;
  CALL "${schema}".take_steps(partitions, batch, patience);
END;
$$;

-- Ends a move before its swap, as if it had never begun. Call it outside a transaction, as the owner; again, if it fails.
CREATE OR REPLACE PROCEDURE "${schema}".abort_move(patience interval DEFAULT '500 ms')
  LANGUAGE plpgsql
AS $$
DECLARE
  move record;
BEGIN
  IF to_regclass('"${schema}".idempotency_move') IS NULL THEN
    RAISE NOTICE 'no move is under way, so nothing was dropped';
    RETURN;
  END IF;
  SELECT m.* INTO move FROM "${schema}".idempotency_move AS m FOR UPDATE;
  IF move.step = 'drop' THEN
    RAISE EXCEPTION 'the table has moved already: CALL ${schema}.move_to_partitions(%) drops the old one', move.partitions;
  END IF;
  UPDATE "${schema}".idempotency_move AS m SET step = 'unmirror' WHERE m.step <> 'abort';
  COMMIT;
  CALL "${schema}".take_steps(move.partitions, 1, patience);
END;
$$;

SELECT "${schema}".keep_for_owner(
  'make_twin', 'install_twin', 'columns_of_keys', 'partition_keys', 'check_twin', 'make_mirror', 'move_step', 'take_steps',
  'move_to_partitions', 'abort_move');
