// Lives: what everybody has been through, told by the entries of the ledger.
// Owns compaction entries to states, and what was promised to sub-agents on the way. Leaves judging it to the caller.

import {
  type AssistantContext,
  type Bound,
  type SubAgentStart,
  decide,
  type Decoded,
  grantKey,
  type Input,
  isOpen,
  type Settings
} from "@reverie/assistant"
import type { Entry } from "@reverie/protocol"
import { beginningOf, subAgentId } from "@reverie/runtime"

/** Every state that an assistant has been in, one for each entry. `settings`: for a creation that does not tell them. */
export const statesOf = (
  [created, ...others]: ReadonlyArray<Entry>,
  settings: Partial<Settings>
): ReadonlyArray<Decoded> => {
  if (created === undefined) return []
  let now = beginningOf(created, settings).decoded
  return [
    now,
    ...others.map(({ event }) => (event === null ? now : (now = decide(now, event as unknown as Input).next)))
  ]
}

/** What a sub-agent was created with; undefined for anybody else. */
export const subAgentStartIn = ([creation]: ReadonlyArray<Entry>): SubAgentStart | undefined => {
  const created = creation?.event as SubAgentStart | { readonly assignment?: undefined } | null | undefined
  return created?.assignment === undefined ? undefined : created
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
