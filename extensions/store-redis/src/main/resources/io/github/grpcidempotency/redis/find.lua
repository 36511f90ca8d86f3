-- Returns the record of the key, and writes nothing.
local record = read()
if not record.id or has_expired(record) then
  return {}
end
return seen(record)
