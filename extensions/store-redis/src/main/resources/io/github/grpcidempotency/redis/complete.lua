-- Records the answer, if its owner still owns the key. A repetition changes nothing.
local owner, kind, body = unpack(ARGV, 1, 3)
local grace, resource = tonumber(ARGV[4]), ARGV[5]
local record = read()
if record.owner ~= owner then
  return {0}
end
if not record.kind then
  -- A script that has already written may continue to write, so a server that is out of memory still records
  -- the answers of running calls.
  redis.call('HDEL', key, 'unknown')
  redis.call('HSET', key, 'kind', kind, 'body', body, 'answered', whole(now))
  if resource then
    redis.call('HSET', key, 'resource', resource)
  end
  delete_after(record.expires, 0, grace)
end
return {1}
