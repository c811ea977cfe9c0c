// Transport: the way from a command to the contract of a fleet.
// Owns what a transport is, and the requests that both know. Leaves the two to server.ts and in-process.ts.
// T1  A request of the contract takes `clientOf`. What is no request is here by name: streams, rest, waiting and the end.

import { defined, type Json } from "@reverie/protocol"
import type { MountedGroup } from "@reverie/server/in-process"
import type { FleetReader, Notice, Part } from "reverie"
import { CommandFailed } from "../failure.ts"

export interface Page<Item> {
  readonly items: ReadonlyArray<Item>
  /** Where the next page begins; null when there is none. */
  readonly next: string | null
}

/** How an order was taken; durable either way. */
export interface Taken {
  readonly outcome: "accepted" | "duplicate"
  readonly envelope: string
}

export interface ListRequest {
  readonly limit: number
  readonly cursor?: string
}

export interface AssistantsRequest extends ListRequest {
  /** Those of this definition only. */
  readonly definition?: string
  /** Those whose definition has this tag only. */
  readonly tag?: string
}

export interface FrameRequest extends ListRequest {
  /** The last commit that is reported. */
  readonly to?: number
  readonly untilState?: string
}

export interface ForkRequest {
  readonly tick: number
  readonly prompt?: string
  readonly model?: string
  readonly stubs?: Readonly<Record<string, string>>
}

export type OrderName = "wake" | "sleep" | "compact" | "stop" | "halt" | "resume" | "retire"

export interface OrderRequest {
  readonly reason?: string
  readonly forMs?: number
  readonly tick?: number
  readonly id?: string
}

export interface Question {
  readonly id?: string
  readonly from?: string
  /** The kind of context that it is handled in. */
  readonly context?: string
  /** The form that the answer must have: a JSON Schema. */
  readonly output?: { readonly [key: string]: Json }
  /** Images, files and audio, in base64. */
  readonly parts?: ReadonlyArray<AttachedPart>
}

/** A file as it is attached to a message. */
export interface AttachedPart {
  readonly type: "file"
  readonly data: string
  readonly mediaType: string
  readonly name: string
}

/** How a request gets to the contract, and what is no request: streams, waiting, and who works there. */
export interface Transport {
  readonly kind: "server" | "store"
  /** Where it is, in words, without any secret. */
  readonly place: string
  /** Whether what it receives is followed while it is open: someone works there. */
  readonly isWorking: boolean
  /** The client of one group of the contract: a command needs few of them. */
  readonly clientOf: (group: MountedGroup) => Promise<unknown>
  /** What a failure on the way is to the caller. */
  readonly explained: (error: unknown) => unknown
  /** Says something and reads what comes back. `send` is the request of the contract for it. */
  readonly ask: (id: string, text: string, question: Question, send: () => Promise<Taken>) => AsyncIterable<Part>
  /** Resolves when everything that happens by itself has happened; undefined where only looking again tells. */
  readonly rest?: () => Promise<void>
  readonly within: <A>(work: Promise<A>, timeoutMs?: number) => Promise<A>
  readonly listen: (listener: (notice: Notice) => void) => () => void
  /** Resolves when something has changed, or it is worth looking again. */
  readonly changed: () => Promise<void>
  readonly close: () => Promise<void>
  /** Of a store that is only looked into: its tenants, and what of it lies apart. */
  readonly store?: Pick<FleetReader, "lacking" | "segments" | "tenant" | "tenants">
}

/** Items in one request. */
export const PAGE = 500

const isTagged = (error: unknown, tag: string): boolean =>
  typeof error === "object" && error !== null && Reflect.get(error, "_tag") === tag

/** Entries that cannot be read, both numbers included. */
interface LostSpan {
  readonly from: number
  readonly to: number
  readonly reason: string
}

interface NumberedPage<Item> {
  readonly items: ReadonlyArray<Item>
  readonly lost?: ReadonlyArray<LostSpan>
  readonly next: number | null
}

/** So many entries from a number on, asked a page at a time, and which of these numbers cannot be read. */
export const entriesFrom = async <Item>(
  from: number,
  limit: number,
  page: (query: { readonly from: number; readonly limit: number }) => Promise<NumberedPage<Item>>
) => {
  const [items, lost]: [Array<Item>, Array<LostSpan>] = [[], []]
  for (let at: number | null = from; at !== null && at < from + limit;) {
    const found: NumberedPage<Item> = await page({ from: at, limit: Math.min(PAGE, from + limit - at) })
    items.push(...found.items)
    lost.push(...(found.lost ?? []))
    at = found.next
  }
  return { items, lost }
}

/** Undefined for what is not there. */
export const orNothing = async <A>(asked: Promise<A>): Promise<A | undefined> => {
  try {
    return await asked
  } catch (error) {
    if (isTagged(error, "NotFound")) return undefined
    throw error
  }
}

/** All of a list, a page at a time. */
export const everyPage = async <Item>(
  ask: (query: { readonly limit: number; readonly cursor?: string }) => Promise<Page<Item>>
): Promise<ReadonlyArray<Item>> => {
  const all: Array<Item> = []
  let cursor: string | undefined
  do {
    const { items, next } = await ask({ limit: PAGE, ...defined({ cursor }) })
    all.push(...items)
    cursor = next ?? undefined
  } while (cursor !== undefined)
  return all
}

/** The value; fails with `timeout` when it takes longer. */
export const timed = async <A>(work: Promise<A>, timeoutMs: number | undefined): Promise<A> => {
  if (timeoutMs === undefined) return work
  work.catch(() => {})
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const seconds = timeoutMs / 1_000
    timer = setTimeout(() => reject(new CommandFailed("timeout", `not finished within ${seconds} s`)), timeoutMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
