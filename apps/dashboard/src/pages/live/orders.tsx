// Orders: the buttons for what the present state accepts, and no others.

import { defined } from "@reverie/protocol/defined"
import { useState } from "react"
import type { AssistantDetail } from "@reverie/server/api"
import type { Asked } from "../../api/contract.ts"
import { useChange } from "../../api/questions.ts"
import { ConfirmLater } from "../../parts/confirm-later.tsx"
import { Failed } from "../../parts/states.tsx"

const ORDER = "POST /v1/assistants/:id/orders"
type Order = Asked<typeof ORDER>["payload"]["order"]

interface Verb {
  readonly order: Order
  readonly title: string
  /** Asked for first. */
  readonly question?: string
}

const verbs: ReadonlyArray<Verb> = [
  { order: "wake", title: "Wake" },
  { order: "sleep", title: "Send to sleep" },
  { order: "compact", title: "Compact history" },
  { order: "resume", title: "Resume" },
  {
    order: "halt",
    title: "Halt",
    question: "It stops at once, keeps its mail, and goes on with what is in hand when it is told to resume."
  },
  {
    order: "retire",
    title: "Retire",
    question: "This can not be taken back: it ends, takes its sub-agents along, and what waits for it is dead-lettered."
  }
]

export const Orders = ({ detail }: { readonly detail: AssistantDetail }) => {
  const { error, isPending, mutate, mutateAsync } = useChange(ORDER)
  const [asked, ask] = useState<Verb>()
  const give = (order: Order, reason?: string) => (key: string) => ({
    params: { id: detail.id },
    payload: { order, id: key, ...defined({ reason }) }
  })
  return (
    <div
      className="flex flex-wrap items-center gap-1.5"
      role="toolbar"
      aria-label="Orders"
      data-accepts={detail.accepts.join(" ")}
    >
      {error === null ? null : <Failed trouble={error} />}
      {verbs
        .filter(({ order }) => detail.accepts.includes(order))
        .map((verb) => (
          <button
            key={verb.order}
            type="button"
            className={`button button-small ${verb.order === "retire" ? "button-danger" : ""}`}
            data-order={verb.order}
            disabled={isPending}
            onClick={() => (verb.question === undefined ? mutate(give(verb.order)) : ask(verb))}
          >
            {verb.title}
          </button>
        ))}
      {asked === undefined ? null : (
        <ConfirmLater
          title={`${asked.title} ${detail.id}?`}
          verb={asked.title}
          danger
          asksReason
          onClose={() => ask(undefined)}
          onConfirm={(reason) => mutateAsync(give(asked.order, reason))}
        >
          {asked.question}
        </ConfirmLater>
      )}
    </div>
  )
}
