// Selection: whom an action is for.
// S1  No one is selected until a person selects them: rows one by one, or in words all that match.
// S2  All that match are those of the filter in view: with another filter they are selected no more.

import { useCallback, useState } from "react"
import type { AssistantRow } from "@reverie/server/api"
import { defined } from "../../api/defined.ts"
import type { FleetSearch } from "../../shell/search.ts"

/** Without order: what a list, an action and a file are asked for. */
export const filterOf = ({ definition, q, state, tag }: Pick<FleetSearch, "definition" | "q" | "state" | "tag">) =>
  defined({ definition, q, state, tag })
export type Filter = ReturnType<typeof filterOf>

const NO_ROWS: ReadonlySet<string> = new Set()
const EVERY_ROW: Pick<ReadonlySet<string>, "has"> = { has: () => true }

export interface Selection {
  /** The rows, or all that match. */
  readonly of: ReadonlySet<string> | "all"
  readonly has: Pick<ReadonlySet<string>, "has">
  readonly toggle: (row: AssistantRow) => void
  readonly selectAll: () => void
  readonly clear: () => void
}

export const useSelection = (search: FleetSearch): Selection => {
  const filter = JSON.stringify(filterOf(search))
  const [of, select] = useState<Selection["of"]>(NO_ROWS)
  const [known, know] = useState(filter)
  if (known !== filter) {
    know(filter)
    if (of === "all") select(NO_ROWS)
  }
  const toggle = useCallback(
    ({ id }: AssistantRow) =>
      select((before) => {
        // One that is taken out of all would leave a selection that no filter says.
        if (before === "all") return before
        const next = new Set(before)
        if (!next.delete(id)) next.add(id)
        return next
      }),
    []
  )
  const selectAll = useCallback(() => select("all"), [])
  const clear = useCallback(() => select(NO_ROWS), [])
  return { of, has: of === "all" ? EVERY_ROW : of, toggle, selectAll, clear }
}
