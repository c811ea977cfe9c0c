// NoticeHub: passes notices on to whoever listens in this process.
// Owns the list of listeners. Leaves durability to the ledger: who was not listening reads the outbox.
// I1  A listener that throws hurts nobody else, and never the commit it is told of.
// I2  Without listeners nothing is computed.

import { type Address, type Entry, type Notice, noticesOf } from "@reverie/protocol"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"

export type Listener = (notice: Notice) => void

export class NoticeHub extends Context.Service<
  NoticeHub,
  {
    /** Answers how to stop listening. */
    readonly listen: (listener: Listener) => () => void
    readonly tell: (notice: Notice) => void
    readonly tellEntry: (address: Address, seq: number, entry: Entry) => void
    readonly isHeard: () => boolean
  }
>()("@reverie/runtime/NoticeHub") {
  static readonly layer = Layer.sync(NoticeHub, () => {
    const listeners = new Set<Listener>()
    const tell = (notice: Notice) => {
      for (const listener of listeners) {
        try {
          listener(notice)
        } catch {
          // I1: a screen's mistake is the screen's.
          continue
        }
      }
    }
    return {
      listen: (listener) => {
        listeners.add(listener)
        return () => {
          listeners.delete(listener)
        }
      },
      tell,
      tellEntry: (address, seq, entry) => {
        if (listeners.size > 0) for (const notice of noticesOf(address, seq, entry)) tell(notice)
      },
      isHeard: () => listeners.size > 0
    }
  })
}
