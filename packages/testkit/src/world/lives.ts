// Lives: what everybody has been through, told by the entries of the ledger.
// Owns folding entries to states, and what was promised to sub-agents on the way. Leaves judging it to whoever asks.

import {
  type AssistantContext,
  type Bound,
  type Commission,
  decide,
  type Decoded,
  grantKey,
  type Input,
  isOpen,
  type Settings
} from "@reverie/assistant"
import type { Entry } from "@reverie/protocol"
import { beginningOf, subAgentId } from "@reverie/runtime"

/** Every state that an assistant has been in, one for each entry. `settings`: for a birth that does not tell them. */
export const statesOf = (
  [born, ...others]: ReadonlyArray<Entry>,
  settings: Partial<Settings>
): ReadonlyArray<Decoded> => {
  if (born === undefined) return []
  let now = beginningOf(born, settings).decoded
  return [
    now,
    ...others.map(({ event }) => (event === null ? now : (now = decide(now, event as unknown as Input).next)))
  ]
}

/** What a sub-agent was born with; undefined for anybody else. */
export const commissionIn = ([birth]: ReadonlyArray<Entry>): Commission | undefined => {
  const born = birth?.event as Commission | { readonly errand?: undefined } | null | undefined
  return born?.errand === undefined ? undefined : born
}

export interface Promised {
  readonly parent: string
  readonly granted: Bound
}

/** What an assistant has promised in these states, by the names of the sub-agents. */
export const promisesOf = (
  id: string,
  contexts: ReadonlyArray<AssistantContext>
): ReadonlyArray<readonly [string, Promised]> =>
  contexts.flatMap(({ account, subAgents }) =>
    subAgents.filter(isOpen).flatMap((line) => {
      const granted = account?.out[grantKey(line)]
      return granted === undefined ? [] : [[subAgentId(id, line.call, line.tries), { parent: id, granted }] as const]
    })
  )
