-- Returns whether an owner is running the key's operation and may still answer; writes nothing.
local record = read()
return {record.id and not record.kind and not record.unknown and record.lease > now and 1 or 0}
