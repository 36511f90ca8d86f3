CREATE FUNCTION pg_temp.uuid_v7(millis bigint) RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT encode(
           set_byte(
             overlay(uuid_send(gen_random_uuid()) PLACING substring(int8send(millis) FROM 3)
                     FROM 1 FOR 6),
             6, 112 + (get_byte(uuid_send(gen_random_uuid()), 6) & 15)),
           'hex')::uuid
$$
