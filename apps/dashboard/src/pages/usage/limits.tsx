// Limits: what the tenant may use in a minute and a day, and setting it.
// L1  What is set here stands in the place of what the program says; an empty field takes it back.

import { useState } from "react"
import type { Answer } from "../../api/contract.ts"
import { useChange } from "../../api/questions.ts"
import { Action } from "../../parts/action.tsx"
import { ConfirmLater } from "../../parts/dialogs/confirm-later.tsx"
import { count, money, percent, tokens } from "../../parts/format.ts"
import { Section } from "../../parts/page.tsx"
import { Empty } from "../../parts/states.tsx"
import { StackTable } from "../../parts/structured/stack-table.tsx"
import { amountOf, fieldOf } from "./amounts.ts"

type Limits = Answer<"GET /v1/budgets">["tenant"]
type Name = keyof Limits["limits"]

interface Told {
  readonly name: Name
  readonly title: string
  readonly used: (limits: Limits) => number
  readonly text: (value: number) => string
}

const all: ReadonlyArray<Told> = [
  { name: "costMicrosPerDay", title: "Cost in this day (UTC)", used: ({ inDay }) => inDay.costMicros, text: money },
  { name: "tokensPerDay", title: "Tokens in this day (UTC)", used: ({ inDay }) => inDay.tokens, text: tokens },
  { name: "callsPerDay", title: "Model calls in this day (UTC)", used: ({ inDay }) => inDay.calls, text: count },
  {
    name: "costMicrosPerMinute",
    title: "Cost in this minute",
    used: ({ inMinute }) => inMinute.costMicros,
    text: money
  },
  { name: "tokensPerMinute", title: "Tokens in this minute", used: ({ inMinute }) => inMinute.tokens, text: tokens },
  { name: "callsPerMinute", title: "Model calls in this minute", used: ({ inMinute }) => inMinute.calls, text: count },
  { name: "concurrentCalls", title: "Model calls at once", used: ({ underWay }) => underWay, text: count }
]

const isMoney = (name: Name): boolean => name.startsWith("costMicros")
const isDay = (name: Name): boolean => name.endsWith("PerDay")

const DAY_MILLIS = 86_400_000

/** At the pace of the day so far. */
const dayEnd = (used: number, now: number): number => (used / Math.max(1, now % DAY_MILLIS)) * DAY_MILLIS

const Row = ({ now, tenant, told }: { readonly tenant: Limits; readonly now: number; readonly told: Told }) => {
  const { name, text, title } = told
  const used = told.used(tenant)
  const most = tenant.limits[name] ?? 0
  const end = dayEnd(used, now)
  const said = tenant.defined[name]
  return (
    <tr data-limit={title} data-used={used} data-is-set={tenant.set[name] !== undefined}>
      <th scope="row">{title}</th>
      <td data-align="end">{text(used)}</td>
      <td data-align="end">
        {text(most)}
        {tenant.set[name] === undefined ? null : (
          <span className="block text-ink-3">
            set; the program says {said === undefined ? "unlimited" : text(said)}
          </span>
        )}
      </td>
      <td data-align="end" className={isDay(name) && end > most ? "text-bad" : undefined}>
        {isDay(name) ? `${text(end)}, ${percent(most === 0 ? 1 : end / most)}` : ""}
      </td>
    </tr>
  )
}

const fieldTitle = ({ name, title }: Told): string =>
  `${title.replace(/ in this (day|minute).*/, " in a $1")}${isMoney(name) ? ", in the currency of the prices" : ""}`

const SetLimits = ({ onClose, tenant }: { readonly tenant: Limits; readonly onClose: () => void }) => {
  const [fields, write] = useState<Partial<Record<Name, string>>>(() =>
    Object.fromEntries(all.map(({ name }) => [name, fieldOf(tenant.set[name], isMoney(name))]))
  )
  const { mutateAsync } = useChange("PUT /v1/limits")
  const amounts = all.map(({ name }) => [name, amountOf(fields[name] ?? "", isMoney(name))] as const)
  return (
    <ConfirmLater
      title="What the tenant may use"
      verb="Set the limits"
      waiting={amounts.some(([, amount]) => amount === undefined)}
      onClose={onClose}
      onConfirm={() => mutateAsync({ payload: Object.fromEntries(amounts) as Record<Name, number | null> })}
    >
      <div className="space-y-3" data-limits-form="">
        {all.map((told) => (
          <label key={told.name} className="block space-y-1">
            <span className="label">{fieldTitle(told)}</span>
            <input
              className="field tabular w-full"
              name={told.name}
              inputMode="decimal"
              placeholder={fieldOf(tenant.defined[told.name], isMoney(told.name)) || "unlimited"}
              value={fields[told.name]}
              onChange={({ target }) => write((before) => ({ ...before, [told.name]: target.value }))}
            />
          </label>
        ))}
        <p>
          From the next model call on, in every process, and after a restart. Empty means what the program says. A call
          that has no room waits; who waits for the day to end goes on at once after a halt and resume.
        </p>
      </div>
    </ConfirmLater>
  )
}

export const LimitsOfTenant = ({ now, tenant }: { readonly tenant: Limits; readonly now: number }) => {
  const [isOpen, open] = useState(false)
  const rows = all.filter(({ name }) => tenant.limits[name] !== undefined)
  return (
    <Section
      title="Limits of the tenant"
      className="overflow-x-auto"
      side={
        <Action className="button button-small" data-set-limits="" onClick={() => open(true)}>
          Set limits
        </Action>
      }
    >
      {rows.length === 0 ? (
        <Empty title="No limits">Nothing bounds what the tenant may use in a minute or a day.</Empty>
      ) : (
        <>
          <StackTable data-limits={rows.length}>
            <thead>
              <tr>
                <th scope="col">Limit</th>
                <th scope="col" data-align="end">
                  Used and reserved
                </th>
                <th scope="col" data-align="end">
                  Of
                </th>
                <th scope="col" data-align="end">
                  At the end of the day
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((told) => (
                <Row key={told.name} told={told} tenant={tenant} now={now} />
              ))}
            </tbody>
          </StackTable>
          <p className="p-3 text-ink-2">
            They stand in <code>tenants</code> of the program that opens the fleet, or were set here. A call that has no
            room waits.
          </p>
        </>
      )}
      {isOpen ? <SetLimits tenant={tenant} onClose={() => open(false)} /> : null}
    </Section>
  )
}
