// Neighbours: assistants of the attacks that do nothing wrong, and wait for a slow model while somebody else does.
// Owns asking them, waiting for their answers, and a supervisor that starts a server again. Leaves the verdict to judge.ts.

import type { Posted } from "./client.ts"
import { pause } from "./judge.ts"
import type { Scene, Server, ServerOptions } from "./scene.ts"

export const NEIGHBOURS = ["ann", "bob", "cid", "dee", "eve"]

/** The newest messages of an assistant as text; empty when the server does not answer. */
export const wordsOf = async ({ client }: Server, assistant: string): Promise<string> => {
  const page = (await client.json(`/v1/assistants/${assistant}/messages?limit=50`).catch(() => undefined)) as
    | { readonly items: ReadonlyArray<{ readonly role: string; readonly content: string }> }
    | undefined
  return (page?.items ?? []).map(({ content, role }) => `${role}: ${content}`).join("\n")
}

/** Waits until it holds, the server ends or the time is over. */
export const until = async (server: Server, millis: number, holds: () => Promise<boolean>): Promise<boolean> => {
  for (const end = performance.now() + millis; performance.now() < end && !server.hasEnded(); await pause(100)) {
    if (await holds()) return true
  }
  return false
}

/** Asks each of them something that its model takes so long for; answers what was acknowledged. */
export const askNeighbours = async (server: Server, millis: number): Promise<ReadonlyArray<Posted>> => {
  const asked: Array<Posted> = []
  for (const assistant of NEIGHBOURS) {
    const posted = { assistant, id: `slow-${assistant}` }
    if (await server.client.post(posted, `slow ${millis}`)) asked.push(posted)
  }
  return asked
}

export const allAnswered = async (server: Server): Promise<boolean> => {
  for (const assistant of NEIGHBOURS) if (!(await wordsOf(server, assistant)).includes("assistant: aye")) return false
  return true
}

export interface Supervised {
  readonly server: Server
  /** With what each life ended. */
  readonly codes: ReadonlyArray<number>
}

/** Starts it until it listens; a start that ends before it does counts as one more end. */
export const restarted = async (
  scene: Scene,
  options: ServerOptions,
  codes: Array<number>,
  most = 40
): Promise<Server> => {
  for (;;) {
    try {
      return await scene.serve(options)
    } catch (error) {
      const code = /ended with code (\d+)/.exec(String(error))?.[1]
      if (code === undefined || codes.length > most) throw error
      codes.push(Number(code))
    }
  }
}

/** Starts a server again whenever it has ended, until it holds, or the restarts or the time are used up. */
export const supervise = async (
  scene: Scene,
  options: ServerOptions,
  first: Server,
  { holds, millis, restarts }: { holds: (server: Server) => Promise<boolean>; millis: number; restarts: number }
): Promise<Supervised> => {
  const codes: Array<number> = []
  let server = first
  const end = performance.now() + millis
  while (codes.length <= restarts && performance.now() < end) {
    if (await until(server, end - performance.now(), () => holds(server))) break
    if (!server.hasEnded()) break
    codes.push(await server.ended)
    server = await restarted(scene, options, codes, restarts)
  }
  return { server, codes }
}
