// Bulk: one decision for several calls that a person has selected.
// K1  Each call is decided on its own, with the arguments that its card shows; one that is refused holds up no other.
// K2  What could not be decided stays selected, and is said with its number.

import type { ApprovalAsked } from "@reverie/server/api"
import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { change, Trouble, troubleOf } from "../../api/client.ts"
import { defined } from "../../api/defined.ts"
import { isAskedAgain } from "../../api/questions.ts"
import { Action } from "../../parts/action.tsx"
import { ConfirmLater } from "../../parts/dialogs/confirm-later.tsx"
import { many } from "../../parts/format.ts"
import { hasUnseen, Visible } from "../../parts/text.tsx"

type Decision = "approved" | "denied"

export const keyOf = ({ approval, assistant }: ApprovalAsked): string => `${assistant} ${approval}`

/** How many of each tool, the most first. */
export const toolsIn = (items: ReadonlyArray<ApprovalAsked>): ReadonlyArray<readonly [string, number]> =>
  [...Map.groupBy(items, ({ tool }) => tool)]
    .map(([tool, calls]) => [tool, calls.length] as const)
    .toSorted(([a, many], [b, more]) => more - many || (a < b ? -1 : 1))

/** Those that could not be decided, and why the first could not. */
const decideAll = async (calls: ReadonlyArray<ApprovalAsked>, decision: Decision, note: string | undefined) => {
  const refused: Array<readonly [ApprovalAsked, Trouble]> = []
  for (const call of calls) {
    const payload = { decision, seen: call.arguments, ...defined({ note }) }
    await change("POST /v1/approvals/:id/:approval", {
      params: { id: call.assistant, approval: call.approval },
      payload
    }).catch((error: unknown) => refused.push([call, troubleOf(error)]))
  }
  return refused
}

interface BulkProps {
  readonly shown: ReadonlyArray<ApprovalAsked>
  readonly selected: ReadonlyArray<ApprovalAsked>
  readonly onSelect: (keys: ReadonlyArray<string>) => void
}

const Question = ({ decision, onClose, onSelect, selected }: QuestionProps) => {
  const client = useQueryClient()
  const isApproval = decision === "approved"
  const unseen = selected.filter((call) => call.invisible || hasUnseen(call.arguments)).length
  const verb = isApproval ? "Approve" : "Deny"
  return (
    <ConfirmLater
      title={`${verb} ${many(selected.length, "call")}?`}
      verb={`${verb} ${selected.length}`}
      danger={!isApproval}
      asksReason
      onClose={onClose}
      onConfirm={async (note) => {
        const refused = await decideAll(selected, decision, note)
        void client.invalidateQueries({ predicate: isAskedAgain })
        onSelect(refused.map(([call]) => keyOf(call)))
        const [first] = refused
        if (first === undefined) return
        throw new Trouble({
          tag: first[1].tag,
          status: first[1].status,
          message: `${refused.length} of ${selected.length} could not be decided: ${first[1].message}`,
          hint: first[1].hint
        })
      }}
    >
      <ul className="space-y-1" data-bulk={selected.length}>
        {toolsIn(selected).map(([tool, calls]) => (
          <li key={tool}>
            {calls} × <code>{<Visible text={tool} />}</code>
          </li>
        ))}
      </ul>
      <p className="pt-2">
        {isApproval ? "Each runs with the arguments on its card." : "The assistants learn that they were denied."}
      </p>
      {unseen === 0 ? null : (
        <p className="pt-2 font-medium text-warn" data-unseen-calls={unseen}>
          {many(unseen, "call has", "calls have")} hidden characters in the arguments.
        </p>
      )}
    </ConfirmLater>
  )
}

interface QuestionProps extends Pick<BulkProps, "onSelect" | "selected"> {
  readonly decision: Decision
  readonly onClose: () => void
}

export const Bulk = ({ onSelect, selected, shown }: BulkProps) => {
  const [decision, ask] = useState<Decision>()
  // What is decided stays as it was when it was asked, whatever is decided elsewhere meanwhile.
  const [meant, mean] = useState<ReadonlyArray<ApprovalAsked>>([])
  const open = (decision: Decision) => {
    mean(selected)
    ask(decision)
  }
  return (
    <div
      className="flex flex-wrap items-center gap-1.5"
      role="toolbar"
      aria-label="Decide together"
      data-selected={selected.length}
    >
      {selected.length === 0 ? null : (
        <>
          <span className="mr-1 font-medium" role="status">
            {selected.length} selected
          </span>
          <Action
            className="button button-small button-primary"
            data-decide-all="approved"
            onClick={() => open("approved")}
          >
            Approve {selected.length}
          </Action>
          <Action className="button button-small button-danger" data-decide-all="denied" onClick={() => open("denied")}>
            Deny {selected.length}
          </Action>
        </>
      )}
      {selected.length === shown.length ? null : (
        <Action
          className="button button-small button-quiet"
          data-select-all=""
          onClick={() => onSelect(shown.map(keyOf))}
        >
          Select all {shown.length}
        </Action>
      )}
      {selected.length === 0 ? null : (
        <button type="button" className="button button-small button-quiet" onClick={() => onSelect([])}>
          Select none
        </button>
      )}
      {decision === undefined ? null : (
        <Question decision={decision} selected={meant} onSelect={onSelect} onClose={() => ask(undefined)} />
      )}
    </div>
  )
}
