// Opened: one compaction: two windows, the summary, the messages behind it, and undoing it.

import { useState } from "react"
import type { Answer } from "../../api/contract.ts"
import { useAnswer, useChange } from "../../api/questions.ts"
import { Action } from "../../parts/action.tsx"
import { Chip } from "../../parts/chip.tsx"
import { ConfirmLater } from "../../parts/dialogs/confirm-later.tsx"
import { count, many, tokens } from "../../parts/format.ts"
import { JsonView } from "../../parts/structured/json.tsx"
import { Section } from "../../parts/page.tsx"
import { Answered } from "../../parts/states.tsx"
import { TextView, Visible } from "../../parts/text.tsx"
import { absolute } from "../../parts/time.tsx"
import { TokenBar } from "../../parts/token-bar.tsx"
import { anchorOf, Outcome, WindowParts } from "./outcome.tsx"

type Whole = Answer<"GET /v1/assistants/:id/compactions/:compaction">
type Compacted = Whole["compacted"][number]

const Window = ({ label, of, value }: { label: string; value: number; of: number }) => (
  <div className="grid grid-cols-[4rem_minmax(0,1fr)_6rem] items-center gap-3" data-window={label}>
    <span className="text-ink-2">{label}</span>
    <TokenBar
      label={`${label}: ${count(value)} tokens`}
      segments={[{ key: label, share: of === 0 ? 0 : value / of, colour: "var(--color-compacting)" }]}
    />
    <span className="tabular text-right">{tokens(value)} tokens</span>
  </div>
)

const Message = ({ message }: { message: Compacted }) => {
  const { calls = [], content, index, name, no, role } = message
  return (
    <li
      id={anchorOf(`m/${no}/${index}`)}
      tabIndex={-1}
      className="grid gap-1 px-3 py-2 sm:grid-cols-[9rem_minmax(0,1fr)]"
      data-compacted={`${no}.${index}`}
    >
      <span className="text-ink-2">
        <span className="font-medium text-ink">
          <Visible text={name ?? role} />
        </span>
        <span className="block font-mono text-[0.857rem]">
          {no}.{index}
        </span>
      </span>
      <div className="min-w-0 space-y-1 break-words whitespace-pre-wrap">
        {content === "" ? null : <Visible text={content} />}
        {calls.map((call) => (
          <p key={call.id} className="font-mono text-[0.857rem] text-ink-2">
            → <Visible text={call.tool} /> <Visible text={call.arguments} />
          </p>
        ))}
      </div>
    </li>
  )
}

const Taking = ({ compaction, onUndo }: { compaction: Whole["compaction"]; onUndo: () => void }) => (
  <span className="flex items-center gap-2">
    {compaction.pairsWhole === undefined ? null : compaction.pairsWhole ? (
      <Chip tone="good" text="calls and results stayed together" />
    ) : (
      <Chip tone="bad" text="a call was parted from its result" />
    )}
    <Action
      className="button button-small"
      disabled={compaction.undone}
      onClick={onUndo}
      data-undo={compaction.id}
      title={compaction.undone ? "It was reverted" : undefined}
    >
      Undo
    </Action>
  </span>
)

const Whole = ({ id, of, onUndo }: { id: string; of: Whole; onUndo: () => void }) => {
  const { compaction, compacted, outcome } = of
  const { afterTokens, at, beforeTokens, messages, record, summary } = compaction
  const widest = Math.max(beforeTokens, afterTokens)
  return (
    <>
      <Section title="Before and after" side={<Taking compaction={compaction} onUndo={onUndo} />}>
        <div className="space-y-2 p-3">
          <Window label="before" value={beforeTokens} of={widest} />
          <Window label="after" value={afterTokens} of={widest} />
          <p className="text-ink-2">
            {absolute(at)}: {many(messages, "message")} left the window,{" "}
            {tokens(Math.max(0, beforeTokens - afterTokens))} tokens became free.
          </p>
        </div>
        <WindowParts of={outcome.parts} />
      </Section>
      <Outcome id={id} of={outcome} />
      <div className="grid gap-4 xl:grid-cols-2">
        <Section title="Summary">
          <div className="p-3">
            <TextView text={summary} label="Summary" />
          </div>
          <details className="border-t border-line px-3 py-2">
            <summary>The whole record</summary>
            <div className="pt-2">
              <JsonView value={record} label="Record of the compaction" />
            </div>
          </details>
        </Section>
        <Section title="What was compacted" side={<span className="label tabular">{count(compacted.length)}</span>}>
          <ol
            className="max-h-[36rem] divide-y divide-line overflow-y-auto"
            tabIndex={0}
            aria-label="Compacted messages"
          >
            {compacted.map((message) => (
              <Message key={`${message.no}.${message.index}`} message={message} />
            ))}
          </ol>
        </Section>
      </div>
    </>
  )
}

export const Opened = ({ compaction, id }: { readonly id: string; readonly compaction: string }) => {
  const whole = useAnswer("GET /v1/assistants/:id/compactions/:compaction", { params: { id, compaction } })
  const { mutateAsync } = useChange("POST /v1/assistants/:id/compactions/:compaction/undo")
  const [asks, ask] = useState(false)
  return (
    <>
      <Answered of={whole} lines={6}>
        {(of) => <Whole id={id} of={of} onUndo={() => ask(true)} />}
      </Answered>
      {asks ? (
        <ConfirmLater
          title="Undo this compaction?"
          verb="Undo"
          onClose={() => ask(false)}
          onConfirm={() => mutateAsync({ params: { id, compaction } })}
        >
          The model sees the compacted messages again with the next run. Compactions that were made after this one are
          undone with it. The window may be full at once.
        </ConfirmLater>
      ) : null}
    </>
  )
}
