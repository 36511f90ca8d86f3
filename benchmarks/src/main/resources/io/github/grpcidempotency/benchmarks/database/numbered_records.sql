-- Records that follow from their numbers, as NumberedRecords finds them again. Each refers to a project that is not there: nobody
-- looks for it. The first :expired have expired, a millisecond after one another; the others live for a week more.
INSERT INTO ${schema}.idempotency_keys
  (id, idempotency_key, user_id, procedure, request_hash, hash_version, response_bytes, project_id, created, completed, expires)
SELECT made.id,
       CASE WHEN n % 2 = 0
            THEN encode(overlay(set_byte(set_byte(d, 6, (get_byte(d, 6) & 15) | 112), 8, (get_byte(d, 8) & 63) | 128)
                                PLACING millis FROM 1 FOR 6), 'hex')::uuid
            ELSE encode(set_byte(set_byte(d, 6, (get_byte(d, 6) & 15) | 64), 8, (get_byte(d, 8) & 63) | 128), 'hex')::uuid
       END,
       ('00000000-0000-4000-8000-'
        || lpad(to_hex(CASE WHEN get_byte(d, 15) < 26 THEN 0
                            ELSE 1 + ((get_byte(d, 13) << 8) | get_byte(d, 12)) % 16384 END), 12, '0'))::uuid,
       :procedure, :hash, :hash_version, :response, made.id, made.at - interval '1 day', made.at - interval '1 day',
       made.at + CASE WHEN n <= :expired THEN interval '0' ELSE interval '7 days' END
  FROM (
    SELECT n, d, millis, at,
           encode(overlay(set_byte(set_byte(o, 6, (get_byte(o, 6) & 15) | 112), 8, (get_byte(o, 8) & 63) | 128)
                          PLACING millis FROM 1 FOR 6), 'hex')::uuid AS id
      FROM (
        SELECT n, decode(md5('record ' || n), 'hex') AS d, decode(md5('id ' || n), 'hex') AS o,
               substring(int8send(:begun + n) FROM 3) AS millis, to_timestamp((:begun + n) / 1000.0) AS at
          FROM generate_series(CAST(:first AS bigint), CAST(:last AS bigint)) AS n
        OFFSET 0 -- each digest is made once
      ) AS digests
    OFFSET 0
  ) AS made
