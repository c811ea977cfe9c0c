// Budgets: who may spend how much, how long it will last, and setting it.
// G1  A forecast is that of the server: at the pace of the last day. Where nothing was used, there is none.

import { Link } from "@tanstack/react-router"
import { useState } from "react"
import type { Answer } from "../../api/contract.ts"
import { useAnswer, useChange } from "../../api/questions.ts"
import { Action } from "../../parts/action.tsx"
import { ConfirmLater } from "../../parts/dialogs/confirm-later.tsx"
import { Export } from "../../parts/export/export.tsx"
import { count, money, percent, tokens } from "../../parts/format.ts"
import { Section } from "../../parts/page.tsx"
import { Answered, Empty } from "../../parts/states.tsx"
import { Visible } from "../../parts/text.tsx"
import { duration } from "../../parts/time.tsx"
import { StackTable } from "../../parts/structured/stack-table.tsx"
import { amountOf, fieldOf } from "./amounts.ts"
import { LimitsOfTenant } from "./limits.tsx"

type Budgets = Answer<"GET /v1/budgets">
type Item = Budgets["items"][number]
type Measure = keyof Item["granted"]

const EVERY_MILLIS = 10_000
const DAY_MILLIS = 86_400_000
const ROWS = 500
const NEAR = 0.8

const measures: ReadonlyArray<readonly [Measure, string, (value: number) => string]> = [
  ["costMicros", "Cost", money],
  ["tokens", "Tokens", tokens],
  ["calls", "Model calls", count]
]

const Used = ({
  item,
  measure,
  text
}: {
  readonly item: Item
  readonly measure: Measure
  readonly text: (value: number) => string
}) => {
  const most = item.granted[measure]
  const used = item.spent[measure] + item.reserved[measure]
  if (most === null) return <span className="text-ink-3">unlimited</span>
  return (
    <span className={used >= most ? "font-medium text-bad" : used >= most * NEAR ? "text-warn" : undefined}>
      {text(used)} of {text(most)}
    </span>
  )
}

/** When it is used up, in words. */
const endText = ({ endsAt, share }: Item, now: number): string => {
  if (share >= 1) return "used up: no call is sent"
  if (endsAt === null) return "nothing used in the last day"
  return endsAt - now > 365 * DAY_MILLIS ? "more than a year" : `in ${duration(Math.max(0, endsAt - now))}`
}

// Setting: what one may spend.

interface Wanted {
  readonly assistant: string
  readonly granted: Item["granted"] | undefined
}

const SetBudget = ({ onClose, wanted }: { readonly wanted: Wanted; readonly onClose: () => void }) => {
  const [assistant, name] = useState(wanted.assistant)
  const [fields, write] = useState(() =>
    Object.fromEntries(
      measures.map(([measure]) => [measure, fieldOf(wanted.granted?.[measure], measure === "costMicros")])
    )
  )
  const { mutateAsync } = useChange("PUT /v1/assistants/:id/budget")
  const amounts = measures.map(
    ([measure]) => [measure, amountOf(fields[measure] ?? "", measure === "costMicros")] as const
  )
  const isWrong = amounts.some(([, amount]) => amount === undefined) || assistant.trim() === ""
  return (
    <ConfirmLater
      title="What it may spend"
      verb="Set the budget"
      waiting={isWrong}
      onClose={onClose}
      onConfirm={() =>
        mutateAsync((id) => ({
          params: { id: assistant.trim() },
          payload: { ...(Object.fromEntries(amounts) as Record<Measure, number | null>), id }
        }))
      }
    >
      <div className="space-y-3" data-budget-form="">
        <label className="block space-y-1">
          <span className="label">Assistant</span>
          <input
            className="field w-full font-mono"
            name="assistant"
            value={assistant}
            onChange={({ target }) => name(target.value)}
          />
        </label>
        {measures.map(([measure, title]) => (
          <label key={measure} className="block space-y-1">
            <span className="label">{title === "Cost" ? "Cost, in the currency of its prices" : title}</span>
            <input
              className="field tabular w-full"
              name={measure}
              inputMode="decimal"
              placeholder="unlimited"
              value={fields[measure]}
              onChange={({ target }) => write((before) => ({ ...before, [measure]: target.value }))}
            />
          </label>
        ))}
        <p>
          In its whole life, what it has spent included. An assistant with a budget asks the model in its answers only:
          it dreams and compacts by rules. Empty means unlimited.
        </p>
      </div>
    </ConfirmLater>
  )
}

const Rows = ({
  items,
  now,
  onSet
}: {
  readonly items: ReadonlyArray<Item>
  readonly now: number
  readonly onSet: (wanted: Wanted) => void
}) => (
  <StackTable data-budgets={items.length}>
    <thead>
      <tr>
        <th scope="col">Assistant</th>
        {measures.map(([measure, title]) => (
          <th key={measure} scope="col" data-align="end">
            {title}
          </th>
        ))}
        <th scope="col" data-align="end">
          Used
        </th>
        <th scope="col">Used up, at the pace of the last day</th>
        <th scope="col">
          <span className="sr-only">Change</span>
        </th>
      </tr>
    </thead>
    <tbody>
      {items.map((item) => (
        <tr key={item.assistant} data-budget={item.assistant} data-share={item.share}>
          <th scope="row" className="font-mono text-ink">
            <Link to="/a/$id/subagents" params={{ id: item.assistant }}>
              <Visible text={item.assistant} />
            </Link>
          </th>
          {measures.map(([measure, , text]) => (
            <td key={measure} data-align="end" className="whitespace-nowrap">
              <Used item={item} measure={measure} text={text} />
            </td>
          ))}
          <td data-align="end">{percent(item.share)}</td>
          <td>{endText(item, now)}</td>
          <td data-align="end">
            <Action
              className="button button-small"
              data-set-budget={item.assistant}
              onClick={() => onSet({ assistant: item.assistant, granted: item.granted })}
            >
              Change
            </Action>
          </td>
        </tr>
      ))}
    </tbody>
  </StackTable>
)

export const BudgetsOfAll = ({ assistant, now }: { readonly assistant: string | undefined; readonly now: number }) => {
  const budgets = useAnswer("GET /v1/budgets", { query: { limit: ROWS } }, { everyMillis: EVERY_MILLIS })
  const [wanted, want] = useState<Wanted>()
  return (
    <Answered of={budgets}>
      {({ items, matched, tenant }) => (
        <>
          <LimitsOfTenant tenant={tenant} now={now} />
          <Section
            title="Budgets"
            className="overflow-x-auto"
            side={
              <span className="flex items-center gap-2">
                <Export name="budgets" route="GET /v1/budgets" asked={{}} />
                <Action
                  className="button button-small"
                  data-set-budget=""
                  onClick={() =>
                    want({
                      assistant: assistant ?? "",
                      granted: items.find((each) => each.assistant === assistant)?.granted
                    })
                  }
                >
                  Set a budget
                </Action>
              </span>
            }
          >
            {items.length === 0 ? (
              <Empty title="No budgets">
                Nothing bounds what an assistant may spend, but the limits of its tenant.
              </Empty>
            ) : (
              <Rows items={items} now={now} onSet={want} />
            )}
            {matched > items.length ? (
              <p className="p-3 text-ink-2">
                The first {count(items.length)} of {count(matched)}.
              </p>
            ) : null}
          </Section>
          {wanted === undefined ? null : (
            <SetBudget key={wanted.assistant} wanted={wanted} onClose={() => want(undefined)} />
          )}
        </>
      )}
    </Answered>
  )
}
