// RedisScript: a Lua script that is sent once and then called by its hash.
// Owns sending it again to a server that does not know it. Leaves what it says to its author.

import { createHash } from "node:crypto"
import type { Redis } from "ioredis"

export type Script = (keys: ReadonlyArray<string>, args: ReadonlyArray<string>) => Promise<unknown>

export const makeScript = (client: Redis, source: string): Script => {
  const sha = createHash("sha1").update(source).digest("hex")
  return async (keys, args) => {
    try {
      return await client.evalsha(sha, keys.length, ...keys, ...args)
    } catch (cause) {
      if (!(cause instanceof Error) || !cause.message.startsWith("NOSCRIPT")) throw cause
      return client.eval(source, keys.length, ...keys, ...args)
    }
  }
}
