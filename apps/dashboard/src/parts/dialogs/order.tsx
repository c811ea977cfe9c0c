// Order: what one assistant may be ordered to do, with the question that comes first where one does.
// O1  The same order asks the same question wherever it is given.

import { type ReactNode, useState } from "react"
import type { Trouble } from "../../api/client.ts"
import type { Asked } from "../../api/contract.ts"
import { defined } from "../../api/defined.ts"
import { useChange } from "../../api/questions.ts"
import { ConfirmLater } from "./confirm-later.tsx"

const ORDER = "POST /v1/assistants/:id/orders"

export interface Verb {
  readonly order: Asked<typeof ORDER>["payload"]["order"]
  readonly title: string
  /** Asked for first. */
  readonly question?: string
}

const verbs: ReadonlyArray<Verb> = [
  { order: "wake", title: "Wake" },
  { order: "sleep", title: "Start dreaming" },
  { order: "compact", title: "Compact history" },
  { order: "resume", title: "Resume" },
  {
    order: "halt",
    title: "Halt",
    question: "It stops at once, keeps its mail, and goes on with what is in progress when it is asked to resume."
  },
  {
    order: "retire",
    title: "Retire",
    question: "This can not be undone: it ends, takes its sub-agents along, and what waits for it is dead-lettered."
  }
]

/** Those that fit the state, by what the server says that it accepts. */
export const verbsFor = (accepts: ReadonlyArray<string>): ReadonlyArray<Verb> =>
  verbs.filter(({ order }) => accepts.includes(order))

interface Ordering {
  /** Gives it, or asks first. */
  readonly give: (verb: Verb) => void
  readonly asked: Verb | undefined
  /** The dialog, while it is asked. */
  readonly question: ReactNode
  readonly error: Trouble | null
  readonly isPending: boolean
}

export const useOrder = (id: string, onClosed: () => void = () => {}): Ordering => {
  const { error, isPending, mutate, mutateAsync } = useChange(ORDER)
  const [asked, ask] = useState<Verb>()
  const wanted =
    ({ order }: Verb, reason?: string) =>
    (key: string) => ({
      params: { id },
      payload: { order, id: key, ...defined({ reason }) }
    })
  const question =
    asked === undefined ? null : (
      <ConfirmLater
        title={`${asked.title} ${id}?`}
        verb={asked.title}
        danger
        asksReason
        onClose={() => {
          ask(undefined)
          onClosed()
        }}
        onConfirm={(reason) => mutateAsync(wanted(asked, reason))}
      >
        {asked.question}
      </ConfirmLater>
    )
  return {
    asked,
    error,
    isPending,
    question,
    give: (verb) => (verb.question === undefined ? mutate(wanted(verb), { onSuccess: onClosed }) : ask(verb))
  }
}
