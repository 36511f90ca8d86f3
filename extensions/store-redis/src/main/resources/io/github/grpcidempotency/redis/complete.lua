-- Records the answer, if its owner still owns the key. A repetition changes nothing.
local owner, kind, body = unpack(ARGV, 1, 3)
local grace, awaited, resource = tonumber(ARGV[4]), ARGV[5], ARGV[6]
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
  if awaited == '1' then
    redis.pcall('PUBLISH', key, '')
  end
end
return {1}
