// SubAgentsBugs: mistakes with budgets and sub-agents, planted in a world on purpose.
// Owns the wrong ports. A world without a planted bug never uses this file.

import type { AssistantContext } from "@reverie/assistant"
import type { AssistantState, Json } from "@reverie/protocol"
import { sendingAssistant } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import type { Store } from "../memory-store.ts"

interface Snapshot {
  readonly context: AssistantContext
}

const withContext = (
  state: AssistantState,
  change: (context: AssistantContext) => Partial<AssistantContext>
): AssistantState => {
  const snapshot = state.snapshot as unknown as Snapshot
  const context = { ...snapshot.context, ...change(snapshot.context) }
  return { ...state, snapshot: { ...snapshot, context } as unknown as Json }
}

/** What the one who takes an assistant up reads of it. */
const readingWrongly = (store: Store, change: (context: AssistantContext) => Partial<AssistantContext>): Store => ({
  ...store,
  mailbox: {
    ...store.mailbox,
    claim: (request) =>
      Effect.map(store.mailbox.claim(request), (hold) => ({ ...hold, state: withContext(hold.state, change) }))
  }
})

/** A model call that a crash cut off has cost nothing. */
export const forgettingTheCrash = (store: Store): Store =>
  readingWrongly(store, ({ account }) =>
    account === null ? {} : { account: { ...account, reserved: { tokens: 0, costMicros: 0, calls: 0 } } }
  )

/** What the last sub-agent gave back is given back again. */
export const releasingTwice = (store: Store): Store =>
  readingWrongly(store, ({ account, subAgents }) => {
    const { granted, spent } = subAgents.findLast((line) => line.spent !== undefined) ?? {}
    if (account === null || granted === undefined || spent === undefined) return {}
    const back = Math.max(0, (granted.tokens ?? 0) - spent.tokens)
    return { account: { ...account, spent: { ...account.spent, tokens: Math.max(0, account.spent.tokens - back) } } }
  })

/** Grants what was wished for when someone looked, not what was promised when someone acted. */
export const grantingTooMuch = (store: Store): Store => ({
  ...store,
  ledger: {
    ...store.ledger,
    create: (creation) => {
      const { assignment, granted, settings } = (creation.entry.event ?? {}) as Record<string, Json | undefined>
      if (assignment === undefined || granted === undefined || settings === undefined)
        return store.ledger.create(creation)
      const more = { ...(granted as object), calls: 99 }
      return store.ledger.create({
        ...creation,
        entry: { ...creation.entry, event: { settings, assignment, granted: more } },
        state: withContext(creation.state, ({ account }) =>
          account === null ? {} : { account: { ...account, granted: { ...account.granted, calls: 99 } } }
        )
      })
    }
  }
})

/** An assistant that retires leaves those below alone. */
export const leavingOrphans = (store: Store): Store => ({
  ...store,
  mailbox: {
    ...store.mailbox,
    accept: (envelope) =>
      envelope.event.type === "retire" && sendingAssistant(envelope.from) !== undefined
        ? Effect.succeed({ outcome: "accepted", envelope: envelope.id, to: envelope.to })
        : store.mailbox.accept(envelope)
  }
})
