// Reading mutants: ledgers that keep rightly and tell wrongly.

import { type AssistantRecord, type Ledger, LedgerUnavailable, MAX_PAGE_CHARS, type OutboxRow } from "@reverie/ledger"
import {
  addressKey,
  type Entry,
  type Message,
  type PlacedMessage,
  recordKinds,
  type RecordRow
} from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { anEnvelope } from "../fixtures.ts"
import { afterwards, type Mistake, namesakes, throughUtf8 } from "./mutant.ts"

type LedgerVerbs = Ledger["Service"]

/** Tells rows wrongly, in the outbox and in the entries of one assistant. */
const tellsRows =
  (change: (rows: ReadonlyArray<OutboxRow>) => ReadonlyArray<OutboxRow>): Mistake =>
  ({ ledger }) => ({
    ledger: {
      outbox: (after, limit) => Effect.map(ledger.outbox(after, limit), change),
      entries: (address, from, limit) => Effect.map(ledger.entries(address, from, limit), change)
    }
  })

const tellsEntries = (change: (entry: Entry, row: OutboxRow) => Entry): Mistake =>
  tellsRows((rows) => rows.map((row) => ({ ...row, entry: change(row.entry, row) })))

const tellsWith =
  (change: (right: LedgerVerbs) => Partial<LedgerVerbs>): Mistake =>
  ({ ledger }) => ({ ledger: change(ledger) })

const tellsOutboxWrongly: Readonly<Record<string, Mistake>> = {
  answersTheVersion: tellsWith(({ commit }) => ({
    commit: (claim, request) => Effect.as(commit(claim, request), request.entry.no)
  })),
  givesPlacesByVersion: tellsRows((rows) => rows.map((row) => ({ ...row, seq: row.entry.no }))),
  hidesTheNewest: tellsWith(({ outbox }) => ({
    outbox: (after, limit) => Effect.map(outbox(after, 1_000), (rows) => rows.slice(0, -1).slice(0, limit))
  })),
  ordersByName: tellsWith(({ outbox }) => ({
    outbox: (after, limit) =>
      Effect.map(outbox(0, 1_000), (rows) =>
        rows
          .toSorted((a, b) => (addressKey(a.address) < addressKey(b.address) ? -1 : 1))
          .filter(({ seq }) => seq > after)
          .slice(0, limit)
      )
  })),
  endsTooEarly: tellsWith(({ outboxEnd }) => ({ outboxEnd: Effect.map(outboxEnd, (seq) => Math.max(0, seq - 1)) })),
  beginsWithTheLast: tellsWith(({ outbox }) => ({ outbox: (after, limit) => outbox(Math.max(after - 1, 0), limit) })),
  skipsOne: tellsWith(({ outbox }) => ({ outbox: (after, limit) => outbox(after === 0 ? 0 : after + 1, limit) })),
  ignoresTheLimit: tellsWith(({ outbox, entries }) => ({
    outbox: (after) => outbox(after, 1_000),
    entries: (address, from) => entries(address, from, 1_000)
  })),
  fillsPagesWithLongEntries: tellsWith(({ outbox }) => ({
    outbox: (after, limit) =>
      Effect.gen(function* () {
        const all: Array<OutboxRow> = []
        for (let last = after; all.length < limit;) {
          const page = yield* outbox(last, limit - all.length)
          if (page.length === 0) break
          all.push(...page)
          last = page.at(-1)?.seq ?? last
        }
        return all
      })
  })),
  stopsAtALongEntry: tellsWith(({ outbox }) => ({
    outbox: (after, limit) =>
      Effect.map(outbox(after, limit), (rows) =>
        rows.filter(({ entry }) => (entry.messages[0]?.content.length ?? 0) <= MAX_PAGE_CHARS)
      )
  })),
  tellsOnePageOfEntries: tellsWith(({ entries, outbox }) => ({
    entries: (address, from, limit) =>
      Effect.flatMap(outbox(0, 1_000), (page) =>
        Effect.map(entries(address, from, limit), (rows) => rows.slice(0, Math.max(page.length, 1)))
      )
  })),
  beginsAfterFrom: tellsWith(({ entries }) => ({
    entries: (address, from, limit) => entries(address, from + 1, limit)
  })),
  numbersByPlace: tellsEntries((entry, { seq }) => ({ ...entry, no: seq })),
  forgetsEmitted: tellsEntries(({ emitted: _, ...entry }) => entry),
  forgetsUsage: tellsEntries(({ step, ...entry }) => {
    if (step === undefined) return entry
    const { usage: _, ...rest } = step
    return { ...entry, step: rest }
  }),
  damagesEntries: tellsEntries(throughUtf8)
}

const probesWrongly: Readonly<Record<string, Mistake>> = {
  leavesItsProbe: ({ ledger }, disk) => ({
    ledger: {
      probe: Effect.sync(() => {
        const seq = Math.max(0, ...disk.sends.keys()) + 1
        disk.sends.set(seq, { seq, envelope: anEnvelope({ id: `probe-${seq}` }) })
      }).pipe(Effect.andThen(ledger.probe))
    }
  }),
  probesInVain: tellsWith(() => ({
    probe: Effect.fail(new LedgerUnavailable({ operation: "probe", message: "never" }))
  }))
}

const tellsAssistantsWrongly: Readonly<Record<string, Mistake>> = {
  listsByJoinedKey: tellsWith(({ list }) => ({
    list: (after, limit) =>
      Effect.map(list(undefined, 1_000), (all) =>
        all
          .toSorted((a, b) => (addressKey(a.address) < addressKey(b.address) ? -1 : 1))
          .filter(({ address }) => after === undefined || addressKey(address) > addressKey(after))
          .slice(0, limit)
      )
  })),
  listsByAge: ({ ledger }, disk) => ({
    ledger: {
      list: (after, limit) =>
        Effect.map(ledger.list(after, 1_000), (all) => {
          const ages = [...disk.residents.keys()]
          const age = ({ address }: AssistantRecord) => ages.indexOf(addressKey(address))
          return all.toSorted((a, b) => age(a) - age(b)).slice(0, limit)
        })
    }
  }),
  listsNothingWaiting: tellsWith(({ list }) => ({
    list: (after, limit) => Effect.map(list(after, limit), (all) => all.map((one) => ({ ...one, waiting: 0 })))
  })),
  listsWithoutLimit: tellsWith(({ list }) => ({ list: (after) => list(after, 1_000) })),
  namesTheFirstAgain: tellsWith(({ addresses }) => ({ addresses: (_, limit) => addresses(undefined, limit) })),
  namesWithoutLimit: tellsWith(({ addresses }) => ({ addresses: (after) => addresses(after, 1_000) })),
  inspectsByNameAlone: ({ ledger }, disk) => ({
    ledger: {
      inspect: (address) => Effect.suspend(() => ledger.inspect(namesakes(disk, address)[0]?.address ?? address))
    }
  }),
  countsTheHandledAsWaiting: tellsWith(({ inspect }) => ({
    inspect: (address) =>
      Effect.map(inspect(address), (found) =>
        found === undefined ? undefined : { ...found, waiting: found.waiting + found.cursors.mail }
      )
  })),
  inspectsNobody: tellsWith(({ inspect }) => ({
    inspect: (address) =>
      Effect.map(inspect(address), (found) => (found?.version === 1 && found.epoch === 0 ? undefined : found))
  }))
}

const tellsSendsWrongly: Readonly<Record<string, Mistake>> = {
  closesSendsWhenTold: ({ ledger }, disk) => ({
    ledger: {
      openSends: (limit) =>
        afterwards(ledger.openSends(limit), (told) => told.forEach(({ seq }) => disk.sends.delete(seq)))
    }
  }),
  settlesNothing: tellsWith(() => ({ settleSends: () => Effect.void })),
  settlesEverything: (_, disk) => ({ ledger: { settleSends: () => Effect.sync(() => disk.sends.clear()) } }),
  settlesAllBefore: ({ ledger }, disk) => ({
    ledger: {
      settleSends: (seqs) =>
        Effect.suspend(() => ledger.settleSends([...disk.sends.keys()].filter((seq) => seq <= Math.max(...seqs))))
    }
  }),
  tellsTheNewestSendFirst: tellsWith(({ openSends }) => ({
    openSends: (limit) => Effect.map(openSends(1_000), (sends) => sends.toReversed().slice(0, limit))
  })),
  tellsEverySend: tellsWith(({ openSends }) => ({ openSends: () => openSends(1_000) })),
  collapsesSendsOfOneId: tellsWith(({ openSends }) => ({
    openSends: (limit) =>
      Effect.map(openSends(1_000), (sends) =>
        [...new Map(sends.map((send) => [send.envelope.id, send] as const)).values()].slice(0, limit)
      )
  })),
  dropsSendsToNobody: ({ ledger }, disk) => ({
    ledger: {
      openSends: (limit) =>
        Effect.map(ledger.openSends(limit), (sends) =>
          sends.filter(({ envelope }) => disk.resident(envelope.to) !== undefined)
        )
    }
  })
}

const tellsPlaced = (change: (found: ReadonlyArray<PlacedMessage>) => ReadonlyArray<PlacedMessage>): Mistake =>
  tellsWith(({ recent }) => ({
    recent: (address, maxTokens, since) => Effect.map(recent(address, maxTokens, since), change)
  }))

const tellsMessages = (change: (message: Message) => Message): Mistake =>
  tellsPlaced((found) => found.map(({ message, place }) => ({ place, message: change(message) })))

const tellsRecords = (change: (rows: ReadonlyArray<RecordRow>) => ReadonlyArray<RecordRow>): Mistake =>
  tellsWith(({ records }) => ({
    records: (address, kinds, filter) => Effect.map(records(address, kinds, filter), change)
  }))

const keepsRecordsWrongly: Readonly<Record<string, Mistake>> = {
  keepsNoRecord: tellsWith(() => ({ records: () => Effect.succeed([]) })),
  tellsAllKeys: tellsWith(({ records }) => ({
    records: (address, kinds, { keys: _, ...filter } = {}) => records(address, kinds, filter)
  })),
  tellsAllInAnyNumber: tellsWith(({ records }) => ({
    records: (address, kinds, { limit: _, ...filter } = {}) => records(address, kinds, filter)
  })),
  countsKindsTogether: tellsWith(({ records }) => ({
    records: (address, kinds, { limit = 1_000, ...filter } = {}) =>
      Effect.map(records(address, kinds, filter), (rows) => rows.slice(0, limit))
  })),
  takesNoKeysForAll: tellsWith(({ records }) => ({
    records: (address, kinds, { keys = [], ...filter } = {}) =>
      records(address, kinds, keys.length === 0 ? filter : { ...filter, keys })
  })),
  ignoresCaseOfKeys: tellsWith(({ records }) => ({
    records: (address, kinds, { keys, ...filter } = {}) =>
      Effect.map(records(address, kinds, filter), (rows) =>
        rows.filter(({ key }) => keys?.some((each) => each.toLowerCase() === key.toLowerCase()) ?? true)
      )
  })),
  keepsNoReminder: tellsRecords((rows) => rows.filter(({ kind }) => kind !== "reminder")),
  takesEpisodesForTheJournal: tellsRecords((rows) =>
    rows.map((row) => (row.kind === "episode" ? { ...row, kind: "journal" } : row))
  ),
  tellsAllKinds: tellsWith(({ records }) => ({ records: (address) => records(address, recordKinds) })),
  mixesRecords: ({ ledger }, disk) => ({
    ledger: {
      records: (address, kinds) =>
        Effect.map(
          Effect.forEach(namesakes(disk, address), (resident) => ledger.records(resident.address, kinds)),
          (all) => all.flat()
        )
    }
  })
}

const tellsHistoryWrongly: Readonly<Record<string, Mistake>> = {
  damagesMessages: tellsMessages(throughUtf8),
  cutsAtNul: tellsMessages((message) => ({ ...message, content: message.content.split("\u0000")[0] ?? "" })),
  cutsLongMessages: tellsMessages((message) => ({ ...message, content: message.content.slice(0, 65_535) })),
  forgetsCalls: tellsMessages(({ calls: _, ...message }) => message),
  tellsTheNewestFirst: tellsPlaced((found) => found.toReversed()),
  misplacesMessages: tellsPlaced((found) =>
    found.map(({ message, place }) => ({ place: { ...place, index: 0 }, message }))
  ),
  tellsFromBefore: tellsWith(({ recent }) => ({ recent: (address, maxTokens) => recent(address, maxTokens) })),
  tellsOneTooMany: tellsWith(({ recent }) => ({
    recent: (address, maxTokens, since) =>
      Effect.map(Effect.all([recent(address, maxTokens, since), recent(address, 1_000_000, since)]), ([fitting, all]) =>
        all.slice(-fitting.length - 1)
      )
  })),
  tellsOneTooFew: tellsWith(({ recent }) => ({
    recent: (address, maxTokens, since) => recent(address, Math.max(0, maxTokens - 1), since)
  })),
  skipsWhatDoesNotFit: tellsWith(({ recent }) => ({
    recent: (address, maxTokens, since) =>
      Effect.map(recent(address, 1_000_000, since), (messages) => {
        let left = maxTokens
        return messages
          .toReversed()
          .filter(({ message: { tokens } }) => {
            if (tokens > left) return false
            left -= tokens
            return true
          })
          .toReversed()
      })
  })),
  tellsTheOldest: tellsWith(({ recent }) => ({
    recent: (address, maxTokens, since) =>
      Effect.map(recent(address, 1_000_000, since), (messages) => {
        let left = maxTokens
        return messages.filter(({ message }) => (left -= message.tokens) >= 0)
      })
  })),
  mixesHistories: ({ ledger }, disk) => ({
    ledger: {
      recent: (address, maxTokens, since) =>
        Effect.map(
          Effect.forEach(namesakes(disk, address), (resident) => ledger.recent(resident.address, maxTokens, since)),
          (found) => found.flat()
        )
    }
  })
}

export const readingMistakes: Readonly<Record<string, Mistake>> = {
  ...tellsOutboxWrongly,
  ...probesWrongly,
  ...tellsAssistantsWrongly,
  ...tellsSendsWrongly,
  ...tellsHistoryWrongly,
  ...keepsRecordsWrongly
}
