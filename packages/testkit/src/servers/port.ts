// Port: a free TCP port of the loopback that stays free while its server is restarted.
// Owns the choice. Leaves trying again to the code that finds it taken after all.

import { createServer } from "node:net"

/** Below the range from which Linux gives ports to clients: one of those would sit on it after a kill. */
const LOWEST = 12_000
const HIGHEST = 30_000
const ATTEMPTS = 100

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once("error", () => resolve(false))
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)))
  })

export const freePort = async (): Promise<number> => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST))
    if (await isFree(port)) return port
  }
  throw new Error(`no free port on 127.0.0.1 between ${LOWEST} and ${HIGHEST}; is the network of this machine up?`)
}
