// Neighbours: assistants of the attacks that do nothing wrong, and wait for a slow model while someone else does.
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

/** A server that has just begun, or is busy, may refuse to take a message; who sent it sends it again under its key. */
const MOST_SENT = 3
const AGAIN_MILLIS = 1_000

/** Asks each of them something that its model takes so long for; answers what was acknowledged. */
export const askNeighbours = async (server: Server, millis: number): Promise<ReadonlyArray<Posted>> => {
  const asked: Array<Posted> = []
  for (const assistant of NEIGHBOURS) {
    const posted = { assistant, id: `slow-${assistant}` }
    for (let left = MOST_SENT; left > 0; left--) {
      const status = await server.client.say(posted, `slow ${millis}`)
      if (status === 202) {
        asked.push(posted)
        break
      }
      process.stderr.write(`attack: the message to ${assistant} was answered with ${status}, and is sent again\n`)
      await pause(AGAIN_MILLIS)
    }
  }
  return asked
}

export const allAnswered = async (server: Server): Promise<boolean> => {
  for (const assistant of NEIGHBOURS) if (!(await wordsOf(server, assistant)).includes("assistant: aye")) return false
  return true
}

export interface Supervised {
  /** Undefined when it ended more often than it may be started again. */
  readonly server: Server | undefined
  /** With what each life ended. */
  readonly codes: ReadonlyArray<number>
}

/** Starts it until it listens; a start that ends before it does counts as one more end. Undefined when there were too many. */
const restartedAtMost = async (
  scene: Scene,
  options: ServerOptions,
  codes: Array<number>,
  most: number
): Promise<Server | undefined> => {
  while (codes.length <= most) {
    try {
      return await scene.serve(options)
    } catch (error) {
      const code = /ended with code (\d+)/.exec(String(error))?.[1]
      if (code === undefined) throw error
      codes.push(Number(code))
    }
  }
  return undefined
}

/** The same, and it is an error when it never listens. */
export const restarted = async (scene: Scene, options: ServerOptions, codes: Array<number>): Promise<Server> => {
  const server = await restartedAtMost(scene, options, codes, codes.length + 40)
  if (server === undefined) throw new Error(`the server never listens: it ended with ${codes.join(", ")}`)
  return server
}

/** Starts a server again whenever it has ended, until it holds, or the restarts or the time are used up. */
export const supervise = async (
  scene: Scene,
  options: ServerOptions,
  first: Server,
  { holds, millis, restarts }: { holds: (server: Server) => Promise<boolean>; millis: number; restarts: number }
): Promise<Supervised> => {
  const codes: Array<number> = []
  let server: Server | undefined = first
  const end = performance.now() + millis
  while (server !== undefined && performance.now() < end) {
    const running: Server = server
    if (await until(running, end - performance.now(), () => holds(running))) break
    if (!running.hasEnded()) break
    codes.push(await running.ended)
    server = await restartedAtMost(scene, options, codes, restarts)
  }
  return { server, codes }
}
