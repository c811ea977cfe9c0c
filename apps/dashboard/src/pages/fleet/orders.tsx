// Orders: one order for many: those that were chosen, or everybody that the filter means.
// O2  The server counts first, with a dry run; the number in the question is its number.

import { defined } from "../../api/defined.ts"
import { useEffect, useState } from "react"
import { useQueryClient } from "@tanstack/react-query"
import { change, type Trouble, troubleOf } from "../../api/client.ts"
import type { Asked } from "../../api/contract.ts"
import { useChange } from "../../api/questions.ts"
import { ConfirmLater } from "../../parts/dialogs/confirm-later.tsx"
import { count, many } from "../../parts/format.ts"
import { Failed } from "../../parts/states.tsx"
import type { FleetSearch } from "../../shell/search.ts"

const ORDER_ALL = "POST /v1/orders"
type Payload = Asked<typeof ORDER_ALL>["payload"]
type Order = Payload["order"]

const verbs: ReadonlyArray<readonly [Order, string, string]> = [
  ["wake", "Wake", "An assistant that dreams comes back as soon as the step at hand is done; others are not touched."],
  ["sleep", "Start dreaming", "They dream when they next rest."],
  ["halt", "Halt", "They stop at once, keep their mail, and go on when they are asked to resume."],
  ["resume", "Resume", "An assistant that is halted goes on with what was in progress."],
  ["retire", "Retire", "This can not be undone: they end, and what waits for them is dead-lettered."]
]

const isDangerous = (order: Order): boolean => order === "halt" || order === "retire"

interface OrdersProps {
  readonly search: FleetSearch
  readonly matched: number | undefined
  readonly chosen: ReadonlySet<string>
  readonly onDone: () => void
  readonly onClear: () => void
}

const useCounted = (wanted: Payload) => {
  const [counted, setCounted] = useState<number>()
  const [trouble, setTrouble] = useState<Trouble>()
  const asked = JSON.stringify(wanted)
  useEffect(() => {
    let gone = false
    change(ORDER_ALL, { payload: { ...(JSON.parse(asked) as Payload), dryRun: true } }).then(
      ({ matched }) => (gone ? undefined : setCounted(matched)),
      (error: unknown) => (gone ? undefined : setTrouble(troubleOf(error)))
    )
    return () => {
      gone = true
    }
  }, [asked])
  return { counted, trouble }
}

const Question = ({
  onClose,
  onDone,
  order,
  wanted
}: {
  readonly order: (typeof verbs)[number]
  readonly wanted: Payload
  readonly onDone: () => void
  readonly onClose: () => void
}) => {
  const [, verb, says] = order
  const { counted, trouble } = useCounted(wanted)
  const [typed, type] = useState("")
  // What can not be undone is said twice.
  const isSure = wanted.order !== "retire" || typed.trim() === String(counted)
  const client = useQueryClient()
  const { mutateAsync } = useChange(ORDER_ALL)
  return (
    <ConfirmLater
      title={`${verb}: how many?`}
      verb={counted === undefined ? verb : `${verb} ${count(counted)}`}
      danger={isDangerous(wanted.order)}
      asksReason
      waiting={counted === undefined || counted === 0 || !isSure}
      onClose={onClose}
      onConfirm={async (reason) => {
        await mutateAsync({ payload: { ...wanted, ...defined({ reason }) } })
        await client.invalidateQueries({ queryKey: ["GET /v1/assistants"] })
        onDone()
      }}
    >
      <div className="space-y-2" data-dry-run={counted}>
        <p className="text-ink">
          {counted === undefined ? "Counting…" : `${many(counted, "assistant")} would be told.`}
        </p>
        <p>{says}</p>
        {wanted.order === "retire" && counted !== undefined ? (
          <label className="block space-y-1">
            <span className="label">Type {counted} to confirm</span>
            <input
              className="field tabular w-full"
              name="number"
              inputMode="numeric"
              autoComplete="off"
              value={typed}
              onChange={({ target }) => type(target.value)}
            />
          </label>
        ) : null}
        {trouble === undefined ? null : <Failed trouble={trouble} />}
      </div>
    </ConfirmLater>
  )
}

export const Orders = ({ chosen, matched, onClear, onDone, search }: OrdersProps) => {
  const [open, setOpen] = useState<(typeof verbs)[number]>()
  const wanted = (order: Order): Payload =>
    chosen.size > 0
      ? { order, ids: [...chosen] }
      : {
          order,
          ...defined({ q: search.q, state: search.state })
        }
  return (
    <div className="flex flex-wrap items-center gap-1.5" role="toolbar" aria-label="Actions" data-orders={chosen.size}>
      <span className="mr-1 text-ink-2">
        {chosen.size > 0
          ? `${count(chosen.size)} chosen`
          : `Actions for all ${matched === undefined ? "" : count(matched)}`}
      </span>
      {verbs.map((order) => (
        <button
          key={order[0]}
          type="button"
          className={`button button-small ${order[0] === "retire" ? "button-danger" : ""}`}
          data-order={order[0]}
          disabled={matched === undefined || matched === 0}
          onClick={() => setOpen(order)}
        >
          {order[1]}
        </button>
      ))}
      {chosen.size > 0 ? (
        <button type="button" className="button button-small button-quiet" onClick={onClear}>
          Choose none
        </button>
      ) : null}
      {open === undefined ? null : (
        <Question order={open} wanted={wanted(open[0])} onDone={onDone} onClose={() => setOpen(undefined)} />
      )}
    </div>
  )
}
