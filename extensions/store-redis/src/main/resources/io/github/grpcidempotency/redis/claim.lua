-- Reserves the key, or returns the existing record. If the same claim sends the script again, the script
-- returns the claim's own reservation.
local owner, id, procedure, version, hash = unpack(ARGV, 1, 5)
local lease, retention = tonumber(ARGV[6]), tonumber(ARGV[7])
local trace = ARGV[8]
local record = read()

local function grant(attempt, expires)
  delete_after(expires, now + lease, lease)
  return {'won', id, attempt, expires}
end

if record.owner == owner and not record.kind and not record.unknown then
  id = record.id
  redis.call('HSET', key, 'lease', whole(now + lease))
  return grant(record.attempt, record.expires)
end

if not record.id or has_expired(record) then
  if record.id then
    redis.call('DEL', key)
  end
  local expires = now + retention
  redis.call('HSET', key, 'id', id, 'owner', owner, 'attempt', 1, 'procedure', procedure,
      'version', version, 'hash', hash, 'lease', whole(now + lease), 'expires', whole(expires),
      'created', whole(now))
  if trace then
    redis.call('HSET', key, 'trace', trace)
  end
  return grant(1, expires)
end

local abandoned = not record.kind and record.lease <= now
local same = record.procedure == procedure and record.version == version and record.hash == hash
if abandoned and same then
  id = record.id
  redis.call('HSET', key, 'owner', owner, 'attempt', whole(record.attempt + 1),
      'lease', whole(now + lease))
  redis.call('HDEL', key, 'unknown', 'trace')
  if trace then
    redis.call('HSET', key, 'trace', trace)
  end
  return grant(record.attempt + 1, record.expires)
end

return seen(record)
