// Priority: the number that orders wake-ups in BullMQ, the smaller first.
// Owns the bands of the urgencies and the ranks in them. Leaves counting to the carrier.
// P1  Every order comes before every person, and every person before all routine.
// P2  In a band, a tenant's wake-ups have rising ranks, and a tenant that had none waiting begins where the band is being
//     handed out: a backlog holds up its own tenant only, and never by more than QUANTUM wake-ups anybody else.
// P3  A rank beyond the end of its band counts as its end: between two moments in which nothing of an urgency waits,
//     fairness holds for millions of wake-ups, and from then on the order of arrival.

import { URGENCIES, type Urgency } from "@reverie/protocol"

/** BullMQ takes 1 to 2,097,151. */
const BAND_WIDTH = 690_000

/** How many wake-ups of a tenant share a rank. */
export const QUANTUM = 8

export const bandOf = (urgency: Urgency): number => URGENCIES.indexOf(urgency) * BAND_WIDTH + 1

/** How long the ranks of tenants are remembered without use. */
const MEMORY_MILLIS = 600_000

/**
 * How long wake-ups whose places were given may be under way: so long a band that looks empty is not begun again, and who
 * comes new to it begins at the last place given.
 */
const UNDER_WAY_MILLIS = 2_000

/**
 * KEYS: BullMQ's prioritized set; then for each band the last place of each tenant in it.
 * ARGV: BullMQ's prefix of keys; then for each wake-up its band (0..2), its tenant and its deduplication id.
 * Answers the priority of each. BullMQ's score is `priority * 2^32 + n`.
 */
export const PRIORITIES_SCRIPT = `
local width, quantum, turn = ${BAND_WIDTH}, ${QUANTUM}, 0x100000000
local heads, answer = {}, {}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function head(band)
  if heads[band] == nil then
    local key = KEYS[2 + band]
    local from = string.format('%.0f', (band * width + 1) * turn)
    local to = string.format('(%.0f', ((band + 1) * width + 1) * turn)
    local first = redis.call('ZRANGEBYSCORE', KEYS[1], from, to, 'WITHSCORES', 'LIMIT', 0, 1)
    local given = redis.call('HMGET', key, '/last', '/at')
    local last, at = tonumber(given[1] or '0'), tonumber(given[2] or '0')
    if #first == 0 and now - at < ${UNDER_WAY_MILLIS} and last < width * quantum / 2 then
      heads[band] = last
    elseif #first == 0 then
      redis.call('DEL', key)
      heads[band] = 0
    else
      heads[band] = (math.floor(tonumber(first[2]) / turn) - band * width - 1) * quantum
    end
  end
  return heads[band]
end
for i = 2, #ARGV, 3 do
  local band, tenant, id = tonumber(ARGV[i]), ARGV[i + 1], ARGV[i + 2]
  local from = head(band)
  local last = tonumber(redis.call('HGET', KEYS[2 + band], tenant) or '-1')
  local known = redis.call('EXISTS', ARGV[1] .. 'de:' .. id) == 1
  local place = math.max(from, known and last or last + 1)
  if not known then redis.call('HSET', KEYS[2 + band], tenant, place, '/last', place, '/at', now) end
  local priority = band * width + 1 + math.min(math.floor(place / quantum), width - 2)
  if known then
    local stored = redis.call('HGET', ARGV[1] .. 'dn:' .. id, 'opts')
    if stored then priority = math.min(priority, cjson.decode(stored)['priority'] or priority) end
  end
  answer[#answer + 1] = priority
end
for band in pairs(heads) do redis.call('PEXPIRE', KEYS[2 + band], ${MEMORY_MILLIS}) end
return answer
`
