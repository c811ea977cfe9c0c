// DeepCheck: every row of a store, read once, to find what is damaged before it is needed.
// Owns the walk and the sentences. Leaves reading to the ports, and the cure to a person.
// D1  It changes nothing, works beside a running fleet, and goes on behind what it cannot read.
// D2  Each finding names the assistant that it belongs to, where there is one.
// D3  A segment that is lost is one finding, and not one for each entry that it has.
// D4  For want of data keys all of an assistant can not be read: that is one finding, and no damage.

import { type EntrySpan, Ledger } from "@reverie/ledger"
import { Mailbox } from "@reverie/mailbox"
import { type Address, addressKey, LANES, recordKinds } from "@reverie/protocol"
import { SqliteStore } from "@reverie/store-sqlite"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/** One damaged row. */
export interface Flaw {
  /** `tenant/assistant`; undefined where it belongs to none. */
  readonly assistant?: string
  /** What is damaged. */
  readonly what: string
  /** Nothing is: the data keys that it is sealed with are not there. */
  readonly isForKeys?: true
}

/** What a reading of every row found. */
export interface DeepCheck {
  /** How many were read. */
  readonly assistants: number
  /** How many entries of the ledger were read. */
  readonly entries: number
  /** What is wrong; none in a sound store. */
  readonly flaws: ReadonlyArray<Flaw>
}

/** Forgotten since the copy was made that was put back, or sealed with the keys of then. */
const UNOPENED = "its data keys are not there: it was forgotten, or the keys.db there is of another time"

const PAGE = 500
const ENTRY_PAGE = 200
const PENDING = 64

interface Failed {
  readonly message: string
  /** Entries that are lost together. */
  readonly lost?: EntrySpan | undefined
}

/** What made a reading fail; undefined when it did not. */
const failureIn = <A, E extends Failed, R>(reading: Effect.Effect<A, E, R>) =>
  Effect.match(reading, {
    onSuccess: (): Failed | undefined => undefined,
    onFailure: (failed): Failed | undefined => failed
  })

const flawIn = <A, R>(reading: Effect.Effect<A, { readonly message: string }, R>) =>
  Effect.map(failureIn(reading), (failed) => failed?.message)

/** Reads all entries of an assistant: in pages, and one by one where a page of them cannot be read. */
const entriesOf = Effect.fnUntraced(function* (address: Address) {
  const ledger = yield* Ledger
  const flaws: Array<string> = []
  const inspected = yield* Effect.option(ledger.inspect(address))
  const version = Option.getOrUndefined(inspected)?.version ?? Number.POSITIVE_INFINITY
  let next = 1
  while (next <= version) {
    const page = yield* Effect.option(ledger.entries(address, next, ENTRY_PAGE))
    const rows = Option.getOrElse(page, () => [])
    if (Option.isNone(page)) {
      const failed = yield* failureIn(ledger.entries(address, next, 1))
      const last = Math.max(next, failed?.lost?.to ?? 0)
      const which = last === next ? `entry ${next}` : `entries ${next} to ${last}`
      if (failed !== undefined) flaws.push(`${which}: ${failed.message}`)
      if (!Number.isFinite(version)) break
      next = last + 1
      continue
    }
    for (const { entry } of rows) {
      if (entry.no !== next) flaws.push(`entries ${next} to ${entry.no - 1} are missing`)
      next = entry.no + 1
    }
    if (rows.length < ENTRY_PAGE) {
      if (Number.isFinite(version) && next <= version) flaws.push(`entries ${next} to ${version} are missing`)
      break
    }
  }
  return { count: next - 1, flaws }
})

const flawsOf = Effect.fnUntraced(function* (address: Address) {
  const ledger = yield* Ledger
  const mailbox = yield* Mailbox
  const { count, flaws } = yield* entriesOf(address)
  const state = yield* flawIn(ledger.inspect(address))
  const records = yield* flawIn(ledger.records(address, recordKinds))
  const mail = yield* flawIn(mailbox.pending(address, LANES, PENDING))
  const found = [
    ...(state === undefined ? [] : [`state: ${state}`]),
    ...(records === undefined ? [] : [`records: ${records}`]),
    ...(mail === undefined ? [] : [`mailbox: ${mail}`]),
    ...flaws
  ]
  return { count, flaws: found.map((what): Flaw => ({ assistant: addressKey(address), what })) }
})

/** Reads everything that is stored. */
export const deepCheck = Effect.gen(function* (): Effect.fn.Return<
  DeepCheck,
  { readonly message: string },
  Ledger | Mailbox
> {
  const ledger = yield* Ledger
  const store = yield* Effect.serviceOption(SqliteStore)
  // Some damage ends even the check of the file: what is behind it is read all the same.
  const ofFile = Option.isNone(store)
    ? []
    : yield* Effect.catchIf(
        store.value.integrity,
        ({ isDamaged }) => isDamaged === true,
        ({ message }) => Effect.succeed([message])
      )
  const loss = Option.isNone(store) ? undefined : yield* store.value.loss
  const ofStore = [...(loss === undefined ? [] : [loss.message]), ...ofFile]
  const flaws: Array<Flaw> = ofStore.map((what) => ({ what }))
  const lacking = Option.isNone(store) ? undefined : yield* store.value.lacking
  const unopened = new Set(lacking?.assistants)
  let [assistants, entries] = [0, 0]
  let last: Address | undefined
  while (true) {
    const page: ReadonlyArray<Address> = yield* ledger.addresses(last, PAGE)
    for (const address of page) {
      if (unopened.has(addressKey(address))) {
        flaws.push({ assistant: addressKey(address), what: UNOPENED, isForKeys: true })
        continue
      }
      const found = yield* flawsOf(address)
      assistants++
      entries += found.count
      flaws.push(...found.flaws)
    }
    last = page.at(-1)
    if (page.length < PAGE) return { assistants, entries, flaws }
  }
})
