// Aside mutants: ledgers that discard the wrong dead letters, or not for good, or with them what has to stay.

import type { Discarded, Ledger } from "@reverie/ledger"
import { addressKey } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import type { DeadLetteredRow, MemoryDisk } from "../memory-disk.ts"
import { afterwards, type Mistake } from "./mutant.ts"

type Discarding = Ledger["Service"]["discard"]
type Asked = Parameters<Discarding>

/** Discards every letter that is meant by someone who looks less closely. */
const meaning =
  (isMeant: (letter: DeadLetteredRow, ...asked: Asked) => boolean): Mistake =>
  (_, disk) => ({
    ledger: {
      discard: (...asked) =>
        Effect.sync((): Discarded => {
          const meant = disk.deadLetters.filter((letter) => isMeant(letter, ...asked))
          if (meant.length === 0) return "unknown"
          if (meant.every(({ discarded }) => discarded === true)) return "already"
          for (const letter of meant)
            disk.deadLetters[disk.deadLetters.indexOf(letter)] = { ...letter, discarded: true }
          return "discarded"
        })
    }
  })

/** Does something more, or undoes something, whenever a letter was discarded. */
const thereupon =
  (act: (disk: MemoryDisk, ...asked: Asked) => void): Mistake =>
  ({ ledger }, disk) => ({
    ledger: {
      discard: (...asked) =>
        afterwards(ledger.discard(...asked), (answer) => {
          if (answer === "discarded") act(disk, ...asked)
        })
    }
  })

const answering =
  (change: (answer: Discarded) => Discarded): Mistake =>
  ({ ledger }) => ({ ledger: { discard: (...asked) => Effect.map(ledger.discard(...asked), change) } })

const isOf = (letter: DeadLetteredRow, address: Asked[0]): boolean => addressKey(letter.address) === addressKey(address)

export const discardedMistakes: Readonly<Record<string, Mistake>> = {
  discardsNothing: () => ({ ledger: { discard: () => Effect.succeed("discarded") } }),
  discardsByTheBeginning: meaning(
    (letter, address, envelope) => isOf(letter, address) && letter.envelope.startsWith(envelope)
  ),
  discardsByPattern: meaning((letter, address, envelope) => {
    const pattern = envelope
      .replaceAll(/[^\w%-]/gs, "\\$&")
      .replaceAll("_", ".")
      .replaceAll("%", ".*")
    return isOf(letter, address) && new RegExp(`^(${pattern})$`, "s").test(letter.envelope)
  }),
  discardsOfAllTenants: meaning(
    (letter, { assistant }, envelope) => letter.address.assistant === assistant && letter.envelope === envelope
  ),
  discardsOfEverybody: meaning(
    (letter, { tenant }, envelope) => letter.address.tenant === tenant && letter.envelope === envelope
  ),
  discardsAll: meaning((letter, address) => isOf(letter, address)),
  saysItAlwaysWasThere: answering((answer) => (answer === "unknown" ? "already" : answer)),
  saysItNeverWasThere: answering((answer) => (answer === "already" ? "unknown" : answer)),
  saysItTwice: answering((answer) => (answer === "already" ? "discarded" : answer)),
  looksBeforeItDiscards: ({ ledger }, disk) => ({
    ledger: {
      discard: Effect.fnUntraced(function* (address, envelope) {
        const lies = disk.deadLetters.some(
          (letter) => isOf(letter, address) && letter.envelope === envelope && letter.discarded !== true
        )
        yield* Effect.yieldNow
        const answer = yield* ledger.discard(address, envelope)
        return lies ? "discarded" : answer
      })
    }
  }),
  tearsItUp: thereupon((disk, address, envelope) => {
    const at = disk.deadLetters.findIndex((letter) => isOf(letter, address) && letter.envelope === envelope)
    disk.deadLetters.splice(at, 1)
  }),
  raisesTheDead: thereupon((disk) => {
    disk.dead--
  }),
  countsItAsSettled: thereupon((disk) => {
    disk.settled++
  }),
  forgetsTheDeadLettering: thereupon((disk, address, envelope) => {
    for (const rows of [disk.outbox, disk.resident(address)?.entries ?? []]) {
      for (const [index, row] of rows.entries()) {
        const { settled, ...entry } = row.entry
        if (settled?.some(({ id }) => id === envelope) && isOf(row as never, address)) rows[index] = { ...row, entry }
      }
    }
  }),
  fencesWhoHoldsIt: thereupon((disk, address) => {
    const resident = disk.resident(address)
    if (resident !== undefined) resident.epoch++
  }),
  takesAPlaceInTheList: ({ ledger }, disk) => ({
    ledger: {
      deadLetters: (limit, request) =>
        Effect.map(ledger.deadLetters(10_000, request), (letters) => {
          const all = request?.newestFirst === true ? disk.deadLetters.toReversed() : disk.deadLetters
          const first = new Set(
            all.slice(0, limit).map(({ address, envelope }) => `${addressKey(address)} ${envelope}`)
          )
          return letters.filter(({ address, envelope }) => first.has(`${addressKey(address)} ${envelope}`))
        })
    }
  }),
  takesItUpAgain: ({ ledger }, disk) => ({
    ledger: {
      commit: (...asked) =>
        afterwards(ledger.commit(...asked), () => {
          for (const [index, { discarded: _, ...letter }] of disk.deadLetters.entries())
            disk.deadLetters[index] = letter
        })
    }
  })
}
