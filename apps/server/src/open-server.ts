// Server: the HTTP face of one process of a fleet.
// Owns what it is opened with. Leaves routes to the groups, who may come in to guard.ts, what happens to the fleet.
// S1  It listens where it says, answers `/livez` from then on, and `/readyz` well only while its store answers.
// S2  Closed, it takes in nothing more, ends its streams, and leaves the fleet open.

import type { Fleet, FleetRole } from "reverie"
import type { Token } from "./tokens.ts"

export interface ServerOptions {
  /** The fleet of the tenant that this machine itself is served for; others are reached by their tokens. */
  readonly fleet: Fleet
  readonly role: FleetRole
  /** "127.0.0.1" when not said. */
  readonly host?: string
  /** 0, any that is free, when not said. */
  readonly port?: number
  /** With none only this machine is served. */
  readonly tokens: ReadonlyArray<Token>
  /** Something else guards it: without tokens others are served too. */
  readonly open?: boolean
  /** Names under which it is asked, besides those of this machine. */
  readonly hosts?: ReadonlyArray<string>
  /** The folder of the built page; without it there is none. */
  readonly page?: string
  /** Told of what went wrong while answering, one line each, without secrets. */
  readonly onTrouble?: (line: string) => void
}

export interface RunningServer {
  /** `http://host:port`. */
  readonly url: string
  readonly port: number
  readonly close: () => Promise<void>
}

/** Listens; rejects when it can not. */
export const openServer = (_options: ServerOptions): Promise<RunningServer> =>
  Promise.reject(new Error("not written yet"))
