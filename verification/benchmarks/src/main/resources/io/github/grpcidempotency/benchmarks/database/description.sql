SELECT 'PostgreSQL ' || current_setting('server_version')
       || ', ' || string_agg(name || '=' || current_setting(name), ', ')
  FROM unnest(ARRAY['fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers']) AS name
