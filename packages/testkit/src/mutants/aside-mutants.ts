// Aside mutants: ledgers that lay the wrong dead letters aside, or not for good, or with them what has to stay.

import type { LaidAside, Ledger } from "@reverie/ledger"
import { addressKey } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import type { BuriedRow, MemoryDisk } from "../memory-disk.ts"
import { afterwards, type Mistake } from "./mutant.ts"

type LayingAside = Ledger["Service"]["layAside"]
type Asked = Parameters<LayingAside>

/** Lays aside every letter that is meant by somebody who looks less closely. */
const meaning =
  (isMeant: (letter: BuriedRow, ...asked: Asked) => boolean): Mistake =>
  (_, disk) => ({
    ledger: {
      layAside: (...asked) =>
        Effect.sync((): LaidAside => {
          const meant = disk.deadLetters.filter((letter) => isMeant(letter, ...asked))
          if (meant.length === 0) return "unknown"
          if (meant.every(({ aside }) => aside === true)) return "already"
          for (const letter of meant) disk.deadLetters[disk.deadLetters.indexOf(letter)] = { ...letter, aside: true }
          return "aside"
        })
    }
  })

/** Does something more, or undoes something, whenever a letter was laid aside. */
const thereupon =
  (act: (disk: MemoryDisk, ...asked: Asked) => void): Mistake =>
  ({ ledger }, disk) => ({
    ledger: {
      layAside: (...asked) =>
        afterwards(ledger.layAside(...asked), (answer) => {
          if (answer === "aside") act(disk, ...asked)
        })
    }
  })

const answering =
  (change: (answer: LaidAside) => LaidAside): Mistake =>
  ({ ledger }) => ({ ledger: { layAside: (...asked) => Effect.map(ledger.layAside(...asked), change) } })

const isOf = (letter: BuriedRow, address: Asked[0]): boolean => addressKey(letter.address) === addressKey(address)

export const asideMistakes: Readonly<Record<string, Mistake>> = {
  laysNothingAside: () => ({ ledger: { layAside: () => Effect.succeed("aside") } }),
  laysAsideByTheBeginning: meaning(
    (letter, address, envelope) => isOf(letter, address) && letter.envelope.startsWith(envelope)
  ),
  laysAsideByPattern: meaning((letter, address, envelope) => {
    const pattern = envelope
      .replaceAll(/[^\w%-]/gs, "\\$&")
      .replaceAll("_", ".")
      .replaceAll("%", ".*")
    return isOf(letter, address) && new RegExp(`^(${pattern})$`, "s").test(letter.envelope)
  }),
  laysAsideOfAllTenants: meaning(
    (letter, { assistant }, envelope) => letter.address.assistant === assistant && letter.envelope === envelope
  ),
  laysAsideOfEverybody: meaning(
    (letter, { tenant }, envelope) => letter.address.tenant === tenant && letter.envelope === envelope
  ),
  laysAllAside: meaning((letter, address) => isOf(letter, address)),
  saysItAlwaysWasThere: answering((answer) => (answer === "unknown" ? "already" : answer)),
  saysItNeverWasThere: answering((answer) => (answer === "already" ? "unknown" : answer)),
  saysItTwice: answering((answer) => (answer === "already" ? "aside" : answer)),
  looksBeforeItLaysAside: ({ ledger }, disk) => ({
    ledger: {
      layAside: Effect.fnUntraced(function* (address, envelope) {
        const lies = disk.deadLetters.some(
          (letter) => isOf(letter, address) && letter.envelope === envelope && letter.aside !== true
        )
        yield* Effect.yieldNow
        const answer = yield* ledger.layAside(address, envelope)
        return lies ? "aside" : answer
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
  forgetsTheBurial: thereupon((disk, address, envelope) => {
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
      deadLetters: (limit, wish) =>
        Effect.map(ledger.deadLetters(10_000, wish), (letters) => {
          const all = wish?.newestFirst === true ? disk.deadLetters.toReversed() : disk.deadLetters
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
          for (const [index, { aside: _, ...letter }] of disk.deadLetters.entries()) disk.deadLetters[index] = letter
        })
    }
  })
}
