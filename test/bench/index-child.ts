// The double of Qdrant in a process of its own: its work is not counted as ours.
// Owns nothing but its process. Leaves what is asked of it to index-cost.ts.
// C1  It keeps no record of requests: they would be more than what it holds.

import { startQdrantServer } from "@reverie/testkit/qdrant-server"

const { requests, url } = await startQdrantServer()
setInterval(() => (requests as Array<unknown>).splice(0), 250)
process.send?.(url)
process.once("disconnect", () => process.exit(0))
