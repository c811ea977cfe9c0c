// Reminders: times that this assistant is to be reminded of something, what became of them, and a new one.
// R1  Setting and cancelling are orders: the list shows what came of them.
// R2  Edit fills the form with one that is there; setting it under its name changes it, and what the form does not show stays.

import { useState } from "react"
import type { Answer } from "../../api/contract.ts"
import { defined } from "../../api/defined.ts"
import { useAnswer, useChange } from "../../api/questions.ts"
import { Action } from "../../parts/action.tsx"
import { Chip } from "../../parts/chip.tsx"
import { count } from "../../parts/format.ts"
import { Export } from "../../parts/export/export.tsx"
import { Section } from "../../parts/page.tsx"
import { Answered, Empty, Failed } from "../../parts/states.tsx"
import { Visible } from "../../parts/text.tsx"
import { absolute, Ago } from "../../parts/time.tsx"
import { StackTable } from "../../parts/structured/stack-table.tsx"

type Reminder = Answer<"GET /v1/assistants/:id/reminders">["items"][number]

const whenOf = ({ at, cron, rrule, timeZone }: Reminder): string =>
  at === undefined ? `${cron ?? rrule ?? ""} ${timeZone}` : absolute(at)

const Last = ({ log }: Pick<Reminder, "log">) => {
  const last = log.at(-1)
  if (last === undefined) return <span className="text-ink-2">none yet</span>
  return (
    <>
      <Chip tone={last.outcome === "skipped" ? "retired" : "good"} text={last.outcome} />{" "}
      <span className="text-ink-2">
        <Visible text={last.reason ?? absolute(last.due)} />
      </span>
    </>
  )
}

/** What stands at the right of its column. */
const ended: ReadonlySet<string> = new Set(["Sent", "Skipped", "Actions"])

interface RowProps {
  readonly id: string
  readonly item: Reminder
  readonly onEdit: () => void
}

const Row = ({ id, item, onEdit }: RowProps) => {
  const { error, isPending, mutate } = useChange("DELETE /v1/assistants/:id/reminders/:reminder")
  return (
    <tr data-reminder={item.id} data-state={item.state}>
      <td>
        <span className="font-medium">
          <Visible text={item.id} />
        </span>
        <span className="block break-words text-ink-2">
          <Visible text={item.note} />
        </span>
      </td>
      <td>
        <Visible text={whenOf(item)} />
      </td>
      <td>{item.nextAt === null ? item.state : <Ago at={item.nextAt} />}</td>
      <td data-align="end">{count(item.sent)}</td>
      <td data-align="end">{count(item.skipped)}</td>
      <td>
        <Last log={item.log} />
      </td>
      <td data-align="end">
        {error === null ? null : <Failed trouble={error} />}
        <Action className="button button-small" data-edit={item.id} onClick={onEdit}>
          Edit
        </Action>{" "}
        {item.state === "active" ? (
          <Action
            className="button button-small"
            data-cancel={item.id}
            disabled={isPending}
            onClick={() =>
              mutate((key) => ({ params: { id, reminder: item.id }, headers: { "idempotency-key": key } }))
            }
          >
            Cancel
          </Action>
        ) : null}
      </td>
    </tr>
  )
}

const fields = [
  ["reminder", "Name", "tea"],
  ["note", "Note", "What it reads then"],
  ["when", "When", "2030-01-31T09:00, 0 9 * * 1-5 or FREQ=DAILY"],
  ["timeZone", "Time zone", "Europe/Berlin"]
] as const

/** A date, an RRULE or a cron rule: each is known by its form. */
const ruleIn = (when: string) =>
  /^\d{4}-/.test(when) ? { at: when } : /FREQ=/.test(when) ? { rrule: when } : { cron: when }

interface Said {
  readonly reminder: string
  readonly note: string
  readonly when: string
  readonly timeZone: string
}

const saidOf = ({ at, cron, id, note, rrule, timeZone }: Reminder): Said => ({
  reminder: id,
  note,
  when: cron ?? rrule ?? (at === undefined ? "" : new Date(at).toISOString()),
  timeZone
})

const Form = ({ edited: item, id }: { readonly id: string; readonly edited: Reminder | undefined }) => {
  const edited = item === undefined ? undefined : saidOf(item)
  const { error, isPending, isSuccess, mutate } = useChange("PUT /v1/assistants/:id/reminders/:reminder")
  const [said, say] = useState<Said>(
    edited ?? { reminder: "", note: "", when: "", timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone }
  )
  const { note, reminder, timeZone, when } = said
  const isWhole = [reminder, note, when].every((text) => text.trim() !== "")
  return (
    <form
      className="flex flex-wrap items-end gap-2 p-3"
      data-form="reminder"
      onSubmit={(event) => {
        event.preventDefault()
        const isSame = item !== undefined && item.id === reminder.trim()
        const stays = isSame ? defined({ catchUp: item.catchUp, quiet: item.quiet, onlyWhen: item.onlyWhen }) : {}
        const payload = { note, ...ruleIn(when.trim()), timeZone: timeZone === "" ? "UTC" : timeZone, ...stays }
        mutate((key) => ({ params: { id, reminder: reminder.trim() }, headers: { "idempotency-key": key }, payload }))
      }}
    >
      {fields.map(([name, title, example]) => (
        <label key={name} className="label">
          {title}
          <input
            className={`field block max-w-full ${name === "when" ? "w-[23rem]" : ""}`}
            name={name}
            placeholder={example}
            value={said[name]}
            autoFocus={edited !== undefined && name === "note"}
            onChange={({ target }) => say({ ...said, [name]: target.value })}
          />
        </label>
      ))}
      <Action type="submit" className="button" disabled={isPending || !isWhole}>
        {edited !== undefined && said.reminder.trim() === edited.reminder ? "Change reminder" : "Set reminder"}
      </Action>
      {isSuccess ? (
        <span role="status" className="text-ink-2">
          It is set, or changed.
        </span>
      ) : null}
      {error === null ? null : <Failed trouble={error} />}
    </form>
  )
}

export const Reminders = ({ id }: { readonly id: string }) => {
  const reminders = useAnswer("GET /v1/assistants/:id/reminders", { params: { id } })
  const [edited, edit] = useState<{ readonly item: Reminder; readonly times: number }>()
  return (
    <Section
      title="Reminders"
      side={
        <Export
          name={`reminders of ${id}`}
          route="GET /v1/assistants/:id/reminders"
          asked={{ params: { id } }}
          isPaged={false}
        />
      }
    >
      <Answered of={reminders}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="It has no reminders">Set one below, or let it set its own with its tool set_reminder.</Empty>
          ) : (
            <div className="overflow-x-auto" tabIndex={0} role="region" aria-label="List of reminders">
              <StackTable className="tight-table">
                <thead>
                  <tr>
                    {["Reminder", "When", "Next", "Sent", "Skipped", "Last", "Actions"].map((title) => (
                      <th key={title} scope="col" data-align={ended.has(title) ? "end" : undefined}>
                        {title === "Actions" ? <span className="sr-only">{title}</span> : title}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {items.map((item) => (
                    <Row
                      key={item.id}
                      id={id}
                      item={item}
                      onEdit={() => edit((before) => ({ item, times: (before?.times ?? 0) + 1 }))}
                    />
                  ))}
                </tbody>
              </StackTable>
            </div>
          )
        }
      </Answered>
      <Form key={edited?.times ?? 0} id={id} edited={edited?.item} />
    </Section>
  )
}
