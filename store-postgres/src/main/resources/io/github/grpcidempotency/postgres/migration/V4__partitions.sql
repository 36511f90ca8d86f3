-- Large tables: the table of keys in hash partitions, if the host's migration chooses so (partition_keys), or once a live table has
-- moved there (move_to_partitions). A partition holds the keys of one hash of key and user, so that the one thing that must be unique
-- still is. Everything is derived from the table that stands, so that what later migrations or the host have added comes along.

-- Makes the empty twin of the table: partitioned, with the table's columns, checks, indexes and foreign keys. Nobody but its owner has
-- a right on it, and its rows are hidden by nothing: install_twin adds what makes it the table of keys.
CREATE FUNCTION ${schema}.make_twin(partitions integer) RETURNS void
  LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  keys    CONSTANT regclass := '${schema}.idempotency_keys'::regclass;
  twin    CONSTANT text := '${schema}.idempotency_keys_twin';
  part    text;
  options text;
  found   record;
BEGIN
  IF COALESCE(partitions NOT BETWEEN 2 AND 1024, true) THEN
    RAISE EXCEPTION 'a table has 2 to 1024 partitions, not %', partitions USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF (SELECT c.relkind FROM pg_class AS c WHERE c.oid = keys) <> 'r' THEN
    RAISE EXCEPTION 'the table ${schema}.idempotency_keys is partitioned already';
  END IF;
  IF (SELECT c.relowner FROM pg_class AS c WHERE c.oid = keys) <> current_user::regrole::oid THEN
    RAISE EXCEPTION 'only the owner of ${schema}.idempotency_keys can partition it'
      USING HINT = format('SET ROLE %s', (SELECT c.relowner::regrole FROM pg_class AS c WHERE c.oid = keys));
  END IF;
  -- What would stay behind with the old table, or keep it from being dropped.
  SELECT string_agg(o.thing, ', ' ORDER BY o.thing)
    INTO part
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
  IF part IS NOT NULL THEN
    RAISE EXCEPTION 'the table ${schema}.idempotency_keys has what partitions would lose: %', part
      USING HINT = 'Drop it, and make it again afterwards.';
  END IF;

  EXECUTE format(
    'CREATE TABLE %s (LIKE ${schema}.idempotency_keys INCLUDING ALL EXCLUDING INDEXES)'
    ' PARTITION BY HASH (idempotency_key, user_id)', twin);
  -- The one that Failures knows, and the primary key, so that the table can be replicated.
  EXECUTE format(
    'ALTER TABLE %s ADD CONSTRAINT idempotency_keys_twin_key PRIMARY KEY (idempotency_key, user_id)', twin);

  -- The settings of storage and vacuum are the partitions'.
  SELECT string_agg(o.option, ', ')
    INTO options
    FROM (SELECT unnest(c.reloptions) AS option FROM pg_class AS c WHERE c.oid = keys
          UNION ALL
          SELECT 'toast.' || unnest(t.reloptions)
            FROM pg_class AS c JOIN pg_class AS t ON t.oid = c.reltoastrelid WHERE c.oid = keys) AS o;
  FOR i IN 0 .. partitions - 1 LOOP
    part := format('${schema}.idempotency_keys_p%s', i);
    EXECUTE format(
      'CREATE TABLE %s PARTITION OF %s FOR VALUES WITH (MODULUS %s, REMAINDER %s)%s',
      part, twin, partitions, i, COALESCE(' WITH (' || options || ')', ''));
    EXECUTE format('ALTER INDEX ${schema}.idempotency_keys_p%s_pkey RENAME TO idempotency_keys_p%1$s_key', i);
  END LOOP;

  -- The owner may have default privileges, which would let others read rows of everybody past the policies.
  FOR found IN
    SELECT DISTINCT c.oid::regclass AS name, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS grantee
      FROM pg_class AS c, aclexplode(c.relacl) AS a
     WHERE (c.oid = twin::regclass OR c.oid IN (SELECT i.inhrelid FROM pg_inherits AS i WHERE i.inhparent = twin::regclass))
       AND a.grantee <> c.relowner
  LOOP
    EXECUTE format('REVOKE ALL ON %s FROM %s', found.name, found.grantee);
  END LOOP;

  -- What was unique without the key, such as the id, cannot be so across partitions: it is an index like others.
  FOR found IN
    SELECT row_number() OVER (ORDER BY c.relname) AS n,
           CASE WHEN i.indisprimary THEN 'idempotency_keys_id' ELSE c.relname END AS name,
           substring(pg_get_indexdef(i.indexrelid) FROM ' USING .*$') AS definition,
           i.indisunique AND ARRAY(SELECT a.attname::text
                                     FROM unnest(i.indkey::smallint[]) AS k (attnum)
                                     JOIN pg_attribute AS a ON a.attrelid = keys AND a.attnum = k.attnum
                                    ORDER BY 1) @> ARRAY['idempotency_key', 'user_id'] AS is_unique
      FROM pg_index AS i
      JOIN pg_class AS c ON c.oid = i.indexrelid
     WHERE i.indrelid = keys
       AND i.indisvalid
       AND c.relname <> 'idempotency_keys_key'
  LOOP
    EXECUTE format(
      'CREATE %s INDEX idempotency_keys_twin_%s ON %s%s',
      CASE WHEN found.is_unique THEN 'UNIQUE' END, found.n, twin, found.definition);
    EXECUTE format('COMMENT ON INDEX ${schema}.idempotency_keys_twin_%s IS %L', found.n, found.name);
  END LOOP;

  FOR found IN
    SELECT c.conname, regexp_replace(pg_get_constraintdef(c.oid), ' NOT VALID$', '') AS definition
      FROM pg_constraint AS c
     WHERE c.conrelid = keys
       AND c.contype = 'f'
  LOOP
    EXECUTE format('ALTER TABLE %s ADD CONSTRAINT %I %s', twin, found.conname, found.definition);
  END LOOP;

  -- Rows are reached through the table alone, whose policies hold there. By itself, a partition shows nobody anything, but the owner
  -- what its functions delete.
  FOR found IN SELECT i.inhrelid::regclass AS name FROM pg_inherits AS i WHERE i.inhparent = twin::regclass LOOP
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', found.name);
    EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', found.name);
    EXECUTE format(
      'CREATE POLICY maintenance ON %s FOR ALL TO CURRENT_USER USING (completed IS NULL OR expires <= now())', found.name);
  END LOOP;
END;
$$;

-- Puts the twin in the place of the table, whose new name is idempotency_keys_retired; both are locked. Until here, nobody but the
-- owner had a right on the twin.
CREATE FUNCTION ${schema}.install_twin() RETURNS void
  LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  keys  CONSTANT regclass := '${schema}.idempotency_keys'::regclass;
  twin  CONSTANT regclass := '${schema}.idempotency_keys_twin'::regclass;
  found record;
BEGIN
  FOR found IN
    SELECT p.polname, p.polpermissive, p.polcmd,
           (SELECT string_agg(CASE r.oid WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(r.oid)) END, ', ')
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
      COALESCE(' USING (' || found.shown || ')', ''),
      COALESCE(' WITH CHECK (' || found.written || ')', ''));
  END LOOP;
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', twin);
  EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', twin);

  FOR found IN
    SELECT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS grantee,
           a.privilege_type, a.is_grantable
      FROM pg_class AS c, aclexplode(c.relacl) AS a
     WHERE c.oid = keys
       AND a.grantee <> c.relowner
  LOOP
    EXECUTE format(
      'GRANT %s ON %s TO %s%s', found.privilege_type, twin, found.grantee,
      CASE WHEN found.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END);
  END LOOP;
  IF obj_description(keys, 'pg_class') IS NOT NULL THEN
    EXECUTE format('COMMENT ON TABLE %s IS %L', twin, obj_description(keys, 'pg_class'));
  END IF;

  FOR found IN SELECT i.indexrelid::regclass AS index, row_number() OVER () AS n FROM pg_index AS i WHERE i.indrelid = keys LOOP
    EXECUTE format('ALTER INDEX %s RENAME TO idempotency_keys_retired_%s', found.index, found.n);
  END LOOP;
  EXECUTE format('ALTER TABLE %s RENAME TO idempotency_keys_retired', keys);
  FOR found IN
    SELECT i.indexrelid::regclass AS index, obj_description(i.indexrelid, 'pg_class') AS name
      FROM pg_index AS i
     WHERE i.indrelid = twin AND NOT i.indisprimary
  LOOP
    EXECUTE format('COMMENT ON INDEX %s IS NULL', found.index);
    EXECUTE format('ALTER INDEX %s RENAME TO %I', found.index, found.name);
  END LOOP;
  ALTER INDEX ${schema}.idempotency_keys_twin_key RENAME TO idempotency_keys_key;
  ALTER TABLE ${schema}.idempotency_keys_twin RENAME TO idempotency_keys;
END;
$$;

-- The columns of the table, but those that it computes itself.
CREATE FUNCTION ${schema}.columns_of_keys(form text) RETURNS text
  LANGUAGE sql STABLE
  SET search_path = pg_catalog, pg_temp
AS $$
  SELECT string_agg(format(form, a.attname), ', ' ORDER BY a.attnum)
    FROM pg_attribute AS a
   WHERE a.attrelid = '${schema}.idempotency_keys'::regclass
     AND a.attnum > 0
     AND NOT a.attisdropped
     AND a.attgenerated = '';
$$;

-- Copies the table, which is locked, to its twin. Row-level security binds the owner, too, who would copy only what the policies show.
-- Where it is off, a query fails rather than miss a row; and it can only be off where it is not forced.
CREATE FUNCTION ${schema}.fill_twin() RETURNS void
  LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp
  SET row_security = off
AS $$
DECLARE
  rows   bigint;
  copied bigint;
BEGIN
  ALTER TABLE ${schema}.idempotency_keys NO FORCE ROW LEVEL SECURITY;
  EXECUTE format(
    'INSERT INTO ${schema}.idempotency_keys_twin (%1$s) SELECT %1$s FROM ${schema}.idempotency_keys',
    ${schema}.columns_of_keys('%I'));
  GET DIAGNOSTICS copied = ROW_COUNT;
  SELECT count(*) INTO rows FROM ${schema}.idempotency_keys;
  IF copied <> rows THEN
    RAISE EXCEPTION 'copied % of % rows', copied, rows;
  END IF;
  -- The planner takes a partition that was never analysed for a small one; and autovacuum never analyses the table itself.
  ANALYZE ${schema}.idempotency_keys_twin;
END;
$$;

-- Moves the table to hash partitions, in one transaction, during which nobody else reads or writes it. For a table that is new or
-- small, or whose servers are stopped; move_to_partitions moves a live one. Call it once, in a migration of the host's. What
-- add_resource_type and the like have made comes along, and they may be called afterwards as well.
CREATE FUNCTION ${schema}.partition_keys(partitions integer) RETURNS void
  LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF to_regclass('${schema}.idempotency_keys_twin') IS NOT NULL THEN
    RAISE EXCEPTION 'a move to partitions is under way: go on with CALL ${schema}.move_to_partitions(…),'
      ' or end it with CALL ${schema}.abort_move()';
  END IF;
  LOCK TABLE ${schema}.idempotency_keys IN ACCESS EXCLUSIVE MODE;
  PERFORM ${schema}.make_twin(partitions);
  PERFORM ${schema}.fill_twin();
  PERFORM ${schema}.install_twin();
  DROP TABLE ${schema}.idempotency_keys_retired;
END;
$$;

REVOKE ALL ON FUNCTION ${schema}.make_twin(integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION ${schema}.install_twin() FROM PUBLIC;
REVOKE ALL ON FUNCTION ${schema}.fill_twin() FROM PUBLIC;
REVOKE ALL ON FUNCTION ${schema}.partition_keys(integer) FROM PUBLIC;

-- A live table moves in steps, each a transaction of its own, so that it can be killed and called again at any point:
--   prepare  makes the twin;
--   mirror   has every change of the table repeated on the twin in the same transaction, by a trigger;
--   copy     copies what stood before, in batches along the index of ids;
--   check    compares both, in batches, by every column;
--   swap     gives the twin the table's name;
--   drop     drops the old table.
-- Until the swap, the old table is the truth, and abort_move drops the twin.

-- Which step is next, and up to which id it has come. Only there while a move is under way.
CREATE FUNCTION ${schema}.move_state(OUT partitions integer, OUT step text, OUT upto uuid, OUT rows bigint)
  LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF to_regclass('${schema}.idempotency_move') IS NULL THEN
    step := 'prepare';
  ELSE
    SELECT m.partitions, m.step, m.upto, m.rows INTO partitions, step, upto, rows FROM ${schema}.idempotency_move AS m FOR UPDATE;
  END IF;
END;
$$;

-- What makes the table's shape, without names: columns, checks, foreign keys and indexes.
CREATE FUNCTION ${schema}.shape_of(keys regclass) RETURNS text[]
  LANGUAGE sql STABLE
  SET search_path = pg_catalog, pg_temp
AS $$
  SELECT array_agg(o.thing ORDER BY o.thing)
    FROM (SELECT format('%s %s %s %s', a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
                        pg_get_expr(d.adbin, d.adrelid)) AS thing
            FROM pg_attribute AS a
            LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
           WHERE a.attrelid = keys AND a.attnum > 0 AND NOT a.attisdropped
          UNION ALL
          SELECT regexp_replace(pg_get_constraintdef(c.oid), ' NOT VALID$', '')
            FROM pg_constraint AS c
           WHERE c.conrelid = keys AND c.contype IN ('c', 'f')
          UNION ALL
          SELECT substring(pg_get_indexdef(i.indexrelid) FROM ' USING .*$')
            FROM pg_index AS i
           WHERE i.indrelid = keys AND i.indisvalid) AS o;
$$;

-- A twin is no copy of a table that has got another column or index meanwhile.
CREATE FUNCTION ${schema}.check_unaltered() RETURNS void
  LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF ${schema}.shape_of('${schema}.idempotency_keys') IS DISTINCT FROM ${schema}.shape_of('${schema}.idempotency_keys_twin') THEN
    RAISE EXCEPTION 'the table ${schema}.idempotency_keys has been altered since the move began: end the move with'
      ' CALL ${schema}.abort_move(), and begin again';
  END IF;
END;
$$;

-- Makes the trigger's function, for the columns that the table has now. It runs as the owner, whom nothing keeps from the twin.
CREATE FUNCTION ${schema}.make_mirror() RETURNS void
  LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  EXECUTE format(
    $function$
      CREATE FUNCTION ${schema}.mirror_on_twin() RETURNS trigger
        LANGUAGE plpgsql SECURITY DEFINER
        SET search_path = pg_catalog, pg_temp
      AS $mirror$
      BEGIN
        IF TG_OP = 'TRUNCATE' THEN
          TRUNCATE ${schema}.idempotency_keys_twin;
          RETURN NULL;
        END IF;
        IF TG_OP = 'DELETE' OR (TG_OP = 'UPDATE'
             AND (OLD.idempotency_key, OLD.user_id) IS DISTINCT FROM (NEW.idempotency_key, NEW.user_id)) THEN
          IF current_setting('transaction_isolation') NOT LIKE 'read %%' THEN
            -- A copy that is newer than this transaction's snapshot would not be seen, and so not be deleted. This fails on it.
            INSERT INTO ${schema}.idempotency_keys_twin (%1$s) VALUES (%4$s)
            ON CONFLICT (idempotency_key, user_id) DO UPDATE SET attempt = EXCLUDED.attempt;
          END IF;
          DELETE FROM ${schema}.idempotency_keys_twin AS k
           WHERE k.idempotency_key = OLD.idempotency_key AND k.user_id = OLD.user_id;
        END IF;
        IF TG_OP <> 'DELETE' THEN
          INSERT INTO ${schema}.idempotency_keys_twin (%1$s) VALUES (%2$s)
          ON CONFLICT (idempotency_key, user_id) DO UPDATE SET %3$s;
        END IF;
        RETURN NULL;
      END;
      $mirror$
    $function$,
    ${schema}.columns_of_keys('%I'), ${schema}.columns_of_keys('NEW.%I'), ${schema}.columns_of_keys('%1$I = EXCLUDED.%1$I'),
    ${schema}.columns_of_keys('OLD.%I'));
  REVOKE ALL ON FUNCTION ${schema}.mirror_on_twin() FROM PUBLIC;
END;
$$;

-- Takes one step of a move, or a batch of one. It waits for no lock longer than patience, because whoever comes after it in the queue
-- waits as long; if it has waited in vain, it has done nothing, and is to be called again.
CREATE FUNCTION ${schema}.move_step(
    partitions integer, batch integer, patience interval, OUT step text, OUT rows bigint, OUT waited boolean, OUT ended boolean)
  LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  state  record;
  last   uuid;
  found  bigint;
  wrong  bigint;
  named  record;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'a table is moved in read committed transactions, not %', current_setting('transaction_isolation');
  END IF;
  IF COALESCE(batch < 1 OR patience <= interval '0', true) THEN
    RAISE EXCEPTION 'a batch has at least one row, and patience takes some time' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  waited := false;
  ended := false;
  state := ${schema}.move_state();
  step := state.step;
  rows := COALESCE(state.rows, 0);
  IF state.partitions IS DISTINCT FROM partitions AND step <> 'prepare' THEN
    RAISE EXCEPTION 'a move to % partitions is under way: go on with it, or end it with CALL ${schema}.abort_move()', state.partitions;
  END IF;
  PERFORM set_config('lock_timeout', (extract(epoch FROM patience) * 1000)::integer::text, true);
  -- Forced row-level security would hide rows from the copy, and from the check as well.
  PERFORM ${schema}.see_all_rows();
  IF EXISTS (
    SELECT
      FROM pg_policy AS p
     WHERE p.polrelid = '${schema}.idempotency_keys'::regclass
       AND (NOT p.polpermissive
            OR (p.polname = 'operators'
                AND (p.polcmd <> '*' OR pg_get_expr(p.polqual, p.polrelid) NOT LIKE '(current_setting(''idempotency.operator''%= ''on''%)'))))
  THEN
    RAISE EXCEPTION 'a restrictive policy, or a changed policy operators, may hide rows of ${schema}.idempotency_keys from the move';
  END IF;

  IF step IN ('mirror', 'copy', 'check') THEN
    PERFORM ${schema}.check_unaltered();
  END IF;

  CASE step
    WHEN 'prepare' THEN
      PERFORM ${schema}.make_twin(partitions);
      PERFORM ${schema}.make_mirror();
      CREATE TABLE ${schema}.idempotency_move (
        partitions integer NOT NULL,
        step       text    NOT NULL,
        upto       uuid    NOT NULL,
        rows       bigint  NOT NULL
      );
      INSERT INTO ${schema}.idempotency_move VALUES (partitions, 'mirror', '00000000-0000-0000-0000-000000000000', 0);

    WHEN 'mirror' THEN
      -- From its commit on, no transaction is left that has written without the triggers.
      CREATE TRIGGER mirror_on_twin AFTER INSERT OR UPDATE OR DELETE ON ${schema}.idempotency_keys
        FOR EACH ROW EXECUTE FUNCTION ${schema}.mirror_on_twin();
      CREATE TRIGGER mirror_truncate_on_twin AFTER TRUNCATE ON ${schema}.idempotency_keys
        FOR EACH STATEMENT EXECUTE FUNCTION ${schema}.mirror_on_twin();
      ALTER TABLE ${schema}.idempotency_keys ENABLE ALWAYS TRIGGER mirror_on_twin;
      ALTER TABLE ${schema}.idempotency_keys ENABLE ALWAYS TRIGGER mirror_truncate_on_twin;
      UPDATE ${schema}.idempotency_move AS m SET step = 'copy';

    WHEN 'copy' THEN
      -- A locked row cannot be deleted before its copy is committed, and whoever changes it waits for the copy, and changes that, too.
      EXECUTE format(
        'WITH batch AS ('
        '  SELECT %1$s FROM ${schema}.idempotency_keys AS k WHERE k.id > $1 ORDER BY k.id LIMIT $2 FOR KEY SHARE'
        '), copied AS ('
        '  INSERT INTO ${schema}.idempotency_keys_twin (%1$s) SELECT %1$s FROM batch'
        '  ON CONFLICT (idempotency_key, user_id) DO NOTHING'
        ')'
        ' SELECT count(*), (SELECT b.id FROM batch AS b ORDER BY b.id DESC LIMIT 1) FROM batch',
        ${schema}.columns_of_keys('%I'))
        INTO found, last
        USING state.upto, batch;
      rows := rows + found;
      IF found > 0 THEN
        UPDATE ${schema}.idempotency_move AS m SET upto = last, rows = move_step.rows;
      ELSIF NOT EXISTS (SELECT FROM ${schema}.idempotency_keys AS k WHERE k.id > state.upto) THEN
        ANALYZE ${schema}.idempotency_keys_twin;
        UPDATE ${schema}.idempotency_move AS m
           SET step = 'check', upto = '00000000-0000-0000-0000-000000000000', rows = 0;
      END IF;

    WHEN 'check' THEN
      SELECT k.id INTO last
        FROM ${schema}.idempotency_keys AS k WHERE k.id > state.upto ORDER BY k.id OFFSET batch - 1 LIMIT 1;
      -- One statement sees both tables at one moment, and every transaction has changed both.
      EXECUTE
        'WITH kept AS ('
        '  SELECT k.* FROM ${schema}.idempotency_keys AS k WHERE k.id > $1 AND k.id <= $2'
        '), copied AS ('
        '  SELECT k.* FROM ${schema}.idempotency_keys_twin AS k WHERE k.id > $1 AND k.id <= $2'
        ')'
        ' SELECT count(kept.id), count(*) FILTER (WHERE (kept *= copied) IS NOT TRUE)'
        '   FROM kept FULL JOIN copied USING (id, idempotency_key, user_id)'
        INTO found, wrong
        USING state.upto, COALESCE(last, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
      IF wrong > 0 THEN
        RAISE EXCEPTION '% rows of the twin differ from those of ${schema}.idempotency_keys: end the move with'
          ' CALL ${schema}.abort_move()', wrong;
      END IF;
      rows := rows + found;
      UPDATE ${schema}.idempotency_move AS m
         SET step = CASE WHEN last IS NULL THEN 'swap' ELSE 'check' END, upto = COALESCE(last, upto), rows = move_step.rows;

    WHEN 'swap' THEN
      LOCK TABLE ${schema}.idempotency_keys, ONLY ${schema}.idempotency_keys_twin IN ACCESS EXCLUSIVE MODE;
      PERFORM ${schema}.check_unaltered();
      IF 2 <> (SELECT count(*) FROM pg_trigger AS t WHERE t.tgrelid = '${schema}.idempotency_keys'::regclass AND t.tgenabled = 'A') THEN
        RAISE EXCEPTION 'the triggers of the move are not there, or not enabled: end it with CALL ${schema}.abort_move()';
      END IF;
      -- Not to be fired any more: a resource that is deleted still changes the old table.
      DROP TRIGGER mirror_on_twin ON ${schema}.idempotency_keys;
      DROP TRIGGER mirror_truncate_on_twin ON ${schema}.idempotency_keys;
      PERFORM ${schema}.install_twin();
      DROP FUNCTION ${schema}.mirror_on_twin();
      UPDATE ${schema}.idempotency_move AS m SET step = 'drop';

    WHEN 'drop' THEN
      -- One foreign key after the other, so that no two of the host's tables are locked at once.
      SELECT c.conname INTO named
        FROM pg_constraint AS c
       WHERE c.conrelid = to_regclass('${schema}.idempotency_keys_retired') AND c.contype = 'f'
       LIMIT 1;
      IF FOUND THEN
        EXECUTE format('ALTER TABLE ${schema}.idempotency_keys_retired DROP CONSTRAINT %I', named.conname);
      ELSE
        DROP TABLE ${schema}.idempotency_keys_retired;
        DROP TABLE ${schema}.idempotency_move;
        ended := true;
      END IF;
    ELSE
      RAISE EXCEPTION 'the move is being ended: CALL ${schema}.abort_move()';
  END CASE;
  PERFORM set_config('idempotency.operator', 'off', true);
EXCEPTION
  WHEN lock_not_available OR deadlock_detected THEN
    waited := true;
END;
$$;

-- Takes one step of ending a move before its swap.
CREATE FUNCTION ${schema}.abort_step(patience interval, OUT waited boolean, OUT ended boolean)
  LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  state record;
  named record;
BEGIN
  waited := false;
  ended := false;
  state := ${schema}.move_state();
  IF state.step = 'prepare' THEN
    ended := true;
    RETURN;
  ELSIF state.step = 'drop' THEN
    RAISE EXCEPTION 'the table has moved already: CALL ${schema}.move_to_partitions(%) drops the old one', state.partitions;
  END IF;
  PERFORM set_config('lock_timeout', (extract(epoch FROM patience) * 1000)::integer::text, true);
  IF state.step <> 'abort' THEN
    DROP TRIGGER IF EXISTS mirror_on_twin ON ${schema}.idempotency_keys;
    DROP TRIGGER IF EXISTS mirror_truncate_on_twin ON ${schema}.idempotency_keys;
    DROP FUNCTION ${schema}.mirror_on_twin();
    UPDATE ${schema}.idempotency_move AS m SET step = 'abort';
    RETURN;
  END IF;
  SELECT c.conname INTO named
    FROM pg_constraint AS c
   WHERE c.conrelid = to_regclass('${schema}.idempotency_keys_twin') AND c.contype = 'f'
   LIMIT 1;
  IF FOUND THEN
    EXECUTE format('ALTER TABLE ${schema}.idempotency_keys_twin DROP CONSTRAINT %I', named.conname);
  ELSE
    DROP TABLE ${schema}.idempotency_keys_twin;
    DROP TABLE ${schema}.idempotency_move;
  END IF;
EXCEPTION
  WHEN lock_not_available OR deadlock_detected THEN
    waited := true;
END;
$$;

-- Moves the table to hash partitions while servers use it. Call it outside a transaction, as the owner. It commits after every step and
-- every batch: if it fails or is killed, call it again, and it goes on; or call abort_move. At the swap, calls wait for patience at most;
-- it is tried until it succeeds, now and then with more patience, since only who waits for more than a second interrupts an autovacuum.
CREATE PROCEDURE ${schema}.move_to_partitions(
    partitions integer, batch integer DEFAULT 5000, patience interval DEFAULT '500 ms')
  LANGUAGE plpgsql
AS $$
DECLARE
  taken record;
  tries integer := 0;
  told  timestamptz := 'epoch';
  last  text := '';
BEGIN
  LOOP
    taken := ${schema}.move_step(partitions, batch, patience * CASE WHEN tries % 10 = 9 THEN 4 ELSE 1 END);
    COMMIT;
    EXIT WHEN taken.ended;
    IF taken.step <> last OR clock_timestamp() > told + interval '5 seconds' THEN
      RAISE NOTICE '%: % rows%', taken.step, taken.rows, CASE WHEN taken.waited THEN ', waits for a lock' ELSE '' END;
      last := taken.step;
      told := clock_timestamp();
    END IF;
    IF taken.waited THEN
      tries := tries + 1;
      PERFORM pg_sleep(0.1 + random());
    ELSE
      tries := 0;
    END IF;
  END LOOP;
END;
$$;

-- Ends a move before its swap, as if it had never begun. Call it outside a transaction, as the owner; again, if it fails.
CREATE PROCEDURE ${schema}.abort_move(patience interval DEFAULT '500 ms')
  LANGUAGE plpgsql
AS $$
DECLARE
  taken record;
  tries integer := 0;
BEGIN
  LOOP
    taken := ${schema}.abort_step(patience * CASE WHEN tries % 10 = 9 THEN 4 ELSE 1 END);
    COMMIT;
    EXIT WHEN taken.ended;
    IF taken.waited THEN
      tries := tries + 1;
      PERFORM pg_sleep(0.1 + random());
    ELSE
      tries := 0;
    END IF;
  END LOOP;
END;
$$;

REVOKE ALL ON FUNCTION ${schema}.move_state() FROM PUBLIC;
REVOKE ALL ON FUNCTION ${schema}.columns_of_keys(text) FROM PUBLIC;
REVOKE ALL ON FUNCTION ${schema}.shape_of(regclass) FROM PUBLIC;
REVOKE ALL ON FUNCTION ${schema}.check_unaltered() FROM PUBLIC;
REVOKE ALL ON FUNCTION ${schema}.make_mirror() FROM PUBLIC;
REVOKE ALL ON FUNCTION ${schema}.move_step(integer, integer, interval) FROM PUBLIC;
REVOKE ALL ON FUNCTION ${schema}.abort_step(interval) FROM PUBLIC;
REVOKE ALL ON PROCEDURE ${schema}.move_to_partitions(integer, integer, interval) FROM PUBLIC;
REVOKE ALL ON PROCEDURE ${schema}.abort_move(interval) FROM PUBLIC;
