// Orders: one action for many: the selected rows, or all that match where a person selected them in words.
// O1  Without a selection there is no action on the page.
// O2  The server counts first, with a dry run; the number in the question is its number.

import { useEffect, useState } from "react"
import { useQueryClient } from "@tanstack/react-query"
import { defined } from "../../api/defined.ts"
import { change, type Trouble, troubleOf } from "../../api/client.ts"
import type { Asked } from "../../api/contract.ts"
import { useChange } from "../../api/questions.ts"
import { Action } from "../../parts/action.tsx"
import { ConfirmLater } from "../../parts/dialogs/confirm-later.tsx"
import { count, many } from "../../parts/format.ts"
import { Failed } from "../../parts/states.tsx"
import type { Filter, Selection } from "./selection.ts"

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
  readonly filter: Filter
  readonly matched: number | undefined
  readonly selection: Selection["of"]
  readonly onDone: () => void
  readonly onSelectAll: () => void
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
        <p className="text-ink">{counted === undefined ? "Counting…" : `${many(counted, "assistant")} will get it.`}</p>
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

const Verbs = ({ onOrder }: { readonly onOrder: (order: (typeof verbs)[number]) => void }) =>
  verbs.map((order) => (
    <Action
      key={order[0]}

      className={`button button-small ${order[0] === "retire" ? "button-danger" : ""}`}
      data-order={order[0]}
      title={order[2]}
      onClick={() => onOrder(order)}
    >
      {order[1]}
    </Action>
  ))

export const Orders = ({ filter, matched = 0, onClear, onDone, onSelectAll, selection }: OrdersProps) => {
  const [open, setOpen] = useState<(typeof verbs)[number]>()
  const isFiltered = Object.keys(filter).length > 0
  const number = selection === "all" ? matched : selection.size
  const wanted = (order: Order): Payload =>
    selection === "all" ? { order, ...filter } : { order, ids: [...selection] }
  return (
    <div className="flex flex-wrap items-center gap-1.5" role="toolbar" aria-label="Actions" data-orders={number}>
      {number === 0 ? null : (
        <>
          <span className="mr-1 font-medium" role="status">
            {selection === "all"
              ? `All ${count(number)}${isFiltered ? " that match" : ""} selected`
              : `${count(number)} selected`}
          </span>
          <Verbs onOrder={setOpen} />
        </>
      )}
      {selection === "all" || matched === 0 ? null : (
        <button type="button" className="button button-small button-quiet" data-select-all="" onClick={onSelectAll}>
          Select all {count(matched)}
          {isFiltered ? " that match" : ""}
        </button>
      )}
      {number === 0 ? null : (
        <button type="button" className="button button-small button-quiet" data-select-none="" onClick={onClear}>
          Select none
        </button>
      )}
      {open === undefined ? null : (
        <Question order={open} wanted={wanted(open[0])} onDone={onDone} onClose={() => setOpen(undefined)} />
      )}
    </div>
  )
}
