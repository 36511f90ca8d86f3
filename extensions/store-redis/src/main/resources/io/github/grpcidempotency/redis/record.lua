-- The beginning of every script. A record is one hash under one key, so all data of an operation is in one slot.
-- Times are milliseconds of this server's clock.
local key = KEYS[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function read()
  local found = redis.call('HMGET', key, 'id', 'owner', 'attempt', 'procedure', 'version', 'hash',
      'lease', 'expires', 'unknown', 'kind', 'body', 'resource', 'trace')
  return {
    id = found[1], owner = found[2], attempt = tonumber(found[3] or 0), procedure = found[4],
    version = found[5], hash = found[6], lease = tonumber(found[7] or 0),
    expires = tonumber(found[8] or 0), unknown = found[9], kind = found[10], body = found[11],
    resource = found[12], trace = found[13]
  }
end

local function whole(number)
  return string.format('%.0f', number)
end

-- Makes the server delete the record some time after it has expired. Until then, the record counts as absent,
-- but its owner can still find out that it has completed the record.
local function delete_after(expires, lease, grace)
  redis.call('PEXPIREAT', key, whole(math.max(expires, lease, now) + grace))
end

local function seen(record)
  return {'seen', now, record.id, record.procedure, record.version, record.hash,
      record.lease, record.expires, record.unknown, record.kind, record.body, record.resource,
      record.trace}
end

local function has_expired(record)
  return record.expires <= now and (record.kind or record.lease <= now)
end
