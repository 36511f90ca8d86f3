-- Returns whether an owner runs the key's operation and may still answer, and writes nothing.
local record = read()
return {record.id and not record.kind and not record.unknown and record.lease > now and 1 or 0}
