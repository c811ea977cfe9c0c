// Forgetting: what is erased for good, of this assistant or of all.
// E1  What would go is counted first, and stands in the question: nothing goes before it is answered.

import { kindName } from "@reverie/protocol/spoken"
import { type ReactNode, useState } from "react"
import type { Answer } from "../../api/contract.ts"
import { useChange } from "../../api/questions.ts"
import { many } from "../../parts/format.ts"
import { ConfirmLater } from "../../parts/dialogs/confirm-later.tsx"
import { Section } from "../../parts/page.tsx"
import { Failed } from "../../parts/states.tsx"
import type { ListProps } from "./facts.tsx"

const FORGET = "POST /v1/forget"
type Receipt = Answer<typeof FORGET>

const ways = {
  text: "what contains",
  topic: "what is about",
  person: "what was said by",
  message: "the message"
} as const
type Way = keyof typeof ways

const placeholders: Readonly<Record<Way, string>> = {
  text: "a text, at least 4 characters",
  topic: "words, in any form",
  person: "a name",
  message: "m/12/0"
}

const whatOf = (way: Way, said: string, id: string, isEverywhere: boolean) => {
  const whose = isEverywhere && way !== "message" ? {} : { assistant: id }
  if (way === "message") return { ...whose, messages: [said] }
  return { ...whose, [way]: said }
}

const Gone = ({ of }: { readonly of: Receipt }): ReactNode => {
  const kinds = Object.entries(of.gone)
  if (kinds.length === 0) return "nothing of it is kept"
  const counted = kinds.map(([kind, number]) => many(number, ...kindName(kind))).join(", ")
  return `${counted}, of ${many(of.assistants, "assistant")}`
}

const became = { missing: "missing", damaged: "damaged, of before", removed: "damaged, taken away" } as const

const Unread = ({ of: { unread = [] } }: { readonly of: Receipt }): ReactNode =>
  unread.map(({ assistant, from, segment, state, to }) => (
    <p key={segment} className="text-bad" data-unread={state}>
      {assistant}, events {from} to {to}: segment {segment} is {became[state]}
    </p>
  ))

const Found = ({ of: { found } }: { readonly of: Receipt }): ReactNode =>
  found === undefined || found.samples.length === 0 ? null : (
    <ul className="max-h-64 overflow-y-auto py-2" data-found="">
      {found.samples.map(({ assistant, kind, text, where }) => (
        <li key={`${assistant} ${kind} ${where}`} className="truncate" title={text}>
          {[assistant, kind, where].filter(Boolean).join(" ")}: {text}
        </li>
      ))}
    </ul>
  )

interface Asked {
  readonly way: Way
  readonly said: string
  readonly isEverywhere: boolean
}

const Asking = ({
  asked,
  isBusy,
  onAsk,
  onChange
}: {
  readonly asked: Asked
  readonly isBusy: boolean
  readonly onAsk: () => void
  readonly onChange: (next: Partial<Asked>) => void
}) => (
  <form
    className="flex flex-wrap items-center gap-2 p-3"
    data-forget=""
    onSubmit={(event) => {
      event.preventDefault()
      onAsk()
    }}
  >
    <select
      className="field"
      name="way"
      aria-label="What is forgotten"
      value={asked.way}
      onChange={({ target }) => onChange({ way: target.value as Way })}
    >
      {Object.entries(ways).map(([each, says]) => (
        <option key={each} value={each}>
          {says}
        </option>
      ))}
    </select>
    <input
      className="field min-w-0 grow"
      name="said"
      aria-label={ways[asked.way]}
      placeholder={placeholders[asked.way]}
      maxLength={asked.way === "text" ? 2_000 : 200}
      value={asked.said}
      onChange={({ target }) => onChange({ said: target.value })}
    />
    {asked.way === "message" ? null : (
      <label className="flex items-center gap-1">
        <input
          type="checkbox"
          name="everywhere"
          checked={asked.isEverywhere}
          onChange={({ target }) => onChange({ isEverywhere: target.checked })}
        />
        in all assistants
      </label>
    )}
    <button type="submit" className="button button-small" disabled={asked.said.trim() === "" || isBusy}>
      Count
    </button>
  </form>
)

export const Forgetting = ({ id }: Pick<ListProps, "id">) => {
  const [asked, ask] = useState<Asked>({ way: "text", said: "", isEverywhere: false })
  const trial = useChange(FORGET)
  const erasing = useChange(FORGET)
  const payload = whatOf(asked.way, asked.said.trim(), id, asked.isEverywhere)
  const would = trial.data
  const isNothing = would !== undefined && Object.keys(would.gone).length === 0
  const countIt = () => {
    erasing.reset()
    trial.mutate({ payload: { ...payload, dryRun: true } })
  }
  return (
    <Section title="Forget for good">
      <Asking
        asked={asked}
        isBusy={trial.isPending}
        onAsk={countIt}
        onChange={(next) => ask((before) => ({ ...before, ...next }))}
      />
      {trial.error === null ? null : <Failed trouble={trial.error} />}
      {erasing.data === undefined ? null : (
        <p className="px-3 pb-3 text-ink-2" role="status" data-forgotten="">
          Erased: <Gone of={erasing.data} />. Exports and backups made before still hold it.
        </p>
      )}
      {isNothing ? (
        <p className="px-3 pb-3 text-ink-2" role="status" data-kept="none">
          Nothing of it is kept.
        </p>
      ) : null}
      {would === undefined || isNothing ? null : (
        <ConfirmLater
          title="Erase it for good?"
          verb="Erase"
          danger
          onClose={() => trial.reset()}
          onConfirm={() => erasing.mutateAsync({ payload })}
        >
          <span data-would="">
            <Gone of={would} />
          </span>
          . It goes from the ledger, memory, index and files, and can not be brought back; numbers and sums of use stay.
          <Found of={would} />
        </ConfirmLater>
      )}
      {would === undefined ? null : (
        <div className="px-3">
          <Unread of={erasing.data ?? would} />
        </div>
      )}
    </Section>
  )
}
