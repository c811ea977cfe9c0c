// Operation: one write of mailbox or ledger, as `apply` takes it, and what it answers.
// Owns the fields and the way into JSON. Leaves their meaning to first/apply.ts.
// O1  Bodies go beside the operations, as they are: text in JSON would be escaped, parsed and unescaped again.
// O2  Keys from outside are written as JSON text, which any database takes (stored.ts of the protocol).

import type { Address, EntryUse } from "@reverie/protocol"

interface Spoken {
  readonly t: string
  readonly a: string
  /** The time by the caller's clock; absent when the database's counts. */
  readonly at?: number
}

/** What a creation and a commit leave behind. */
export interface Filed {
  readonly no: number
  readonly receives: number
  readonly retired: boolean
  readonly jobs: boolean
  /** When the first timer is due. */
  readonly timer?: number
  readonly sends: number
  readonly letters: number
  readonly usage?: ReadonlyArray<EntryUse & { readonly no: number }>
  /** Kind, key, and the place of the body among the operation's own, or null to drop it. */
  readonly records?: ReadonlyArray<readonly [kind: string, key: string, body: number | null]>
  readonly settled: number
}

export type Operation = Spoken &
  /** `seq`: of the open send that it comes from. */
  (
    | { readonly k: "accept"; readonly id: string; readonly lane: number; readonly seq?: number }
    | { readonly k: "claim"; readonly worker: string; readonly lease: number }
    | { readonly k: "renew"; readonly worker: string; readonly lease: number; readonly epoch: number }
    | { readonly k: "release" | "unclaim" | "note"; readonly epoch: number }
    | { readonly k: "fence" }
    | ({ readonly k: "creation" } & Filed)
    | ({ readonly k: "commit"; readonly epoch: number; readonly lane?: number; readonly seq?: number } & Filed)
    | { readonly k: "settle"; readonly seqs: ReadonlyArray<number> }
  )

type Plain = "unknown" | "accepted" | "duplicate" | "noted" | "released" | "fenced" | "created" | "exists" | "settled"

export type Answer =
  | { readonly [Is in Plain]: { readonly is: Is } }[Plain]
  | {
      readonly is: "granted"
      readonly epoch: number
      readonly version: number
      readonly until: number
      readonly attempts: number
      readonly note: string | null
      readonly control: number
      readonly reply: number
      readonly mail: number
    }
  | { readonly is: "held"; readonly worker: string; readonly until: number }
  | { readonly is: "renewed"; readonly until: number }
  | { readonly is: "lost"; readonly epoch: number }
  | { readonly is: "written"; readonly position: number }
  | { readonly is: "stale"; readonly epoch: number; readonly version: number }

/** An answer with the text that came beside it: the state that a claim hands over. */
export interface Answered {
  readonly answer: Answer
  readonly body: string | null
}

/** An operation with its texts, ready for a batch. */
export interface Request {
  readonly operation: Operation
  readonly bodies: ReadonlyArray<string>
}

export const spokenTo = ({ tenant, assistant }: Address): Spoken => ({ t: tenant, a: assistant })

export interface Packed {
  readonly operations: string
  readonly bodies: ReadonlyArray<string>
}

/** A batch as the two values that `apply` takes. */
export const pack = (requests: ReadonlyArray<Request>, again: boolean): Packed => {
  const bodies: Array<string> = []
  const operations = requests.map(({ operation, bodies: own }, p) => {
    // Arrays of PostgreSQL begin with 1.
    const b = bodies.length + 1
    for (const body of own) bodies.push(body)
    const records =
      "records" in operation && operation.records !== undefined
        ? { records: operation.records.map(([kind, key, body]) => [kind, key, body === null ? null : b + body]) }
        : {}
    return { ...operation, ...records, p, b, again }
  })
  return { operations: JSON.stringify(operations), bodies }
}
