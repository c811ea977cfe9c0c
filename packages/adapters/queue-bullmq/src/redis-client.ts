// RedisClient: one connection to Redis that comes back by itself, and ends when it is told to.
// Owns how it is opened, duplicated and ended. Leaves what is said over it to the carrier and to BullMQ.
// C1  It comes back by itself, from a Redis that was away, replaced, or made read-only for a while.
// C5  Told to end, it ends, also between two attempts to connect; so do its duplicates, which BullMQ makes and waits for.

import { Redis, type RedisOptions } from "ioredis"
import { RETRY_MILLIS } from "./options.ts"

class EndingRedis extends Redis {
  /** The client is left waiting for ever where it is told to end between two attempts: an attempt has an end of its own. */
  override disconnect(reconnect = false): void {
    if (this.status === "reconnecting" && !reconnect) this.connect().catch(() => undefined)
    super.disconnect(reconnect)
  }

  override duplicate(override?: Partial<RedisOptions>): Redis {
    return new EndingRedis({ ...this.options, ...override } as Omit<RedisOptions, "replyMapping">)
  }
}

export const openRedisClient = (url: string, deadlineMillis: number): Redis => {
  const client = new EndingRedis(url, {
    maxRetriesPerRequest: null,
    connectTimeout: deadlineMillis,
    disconnectTimeout: RETRY_MILLIS,
    retryStrategy: (times) => Math.min(50 * times, RETRY_MILLIS),
    // A primary that became a replica answers like this until the name leads to the new one.
    reconnectOnError: ({ message }) => message.startsWith("READONLY")
  })
  // Told by what fails because of it.
  client.on("error", () => undefined)
  return client
}
