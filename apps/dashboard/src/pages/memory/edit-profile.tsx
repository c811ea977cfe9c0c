// EditProfile: a person writes into what is known of someone: corrects an attribute, adds one, removes one, and takes each of these back.
// W1  What a person wrote says so, and can be taken back; what was removed can be put back.

import { useState } from "react"
import { useChange } from "../../api/questions.ts"
import { Action } from "../../parts/action.tsx"
import { EditText } from "../../parts/dialogs/edit-text.tsx"
import { Section } from "../../parts/page.tsx"
import { Failed } from "../../parts/states.tsx"
import { Visible } from "../../parts/text.tsx"
import { Done } from "./write-fact.tsx"

const MAX_CHARS = 300

interface Whose {
  /** The assistant. */
  readonly id: string
  /** The profile. */
  readonly entity: string
}

interface Written {
  readonly id: string
  readonly text: string
  readonly by?: string
}

const useWriting = ({ entity, id }: Whose) => {
  const { error, isPending, isSuccess, mutate, reset } = useChange("POST /v1/assistants/:id/memory/profiles/:entity")
  const write = (payload: { readonly attribute?: string; readonly text?: string; readonly undo?: true }) =>
    mutate((key) => ({ params: { id, entity }, headers: { "idempotency-key": key }, payload }))
  return { error, isPending, isSuccess, write, reset }
}

/** What a person may do about one attribute. */
export const EditAttribute = ({ attribute, ...whose }: Whose & { readonly attribute: Written }) => {
  const [isOpen, open] = useState(false)
  const { error, isPending, isSuccess, write } = useWriting(whose)
  const { by, id, text } = attribute
  if (isSuccess) return <Done of={id}>Heard as soon as the assistant is at rest.</Done>
  if (isOpen) {
    return (
      <EditText
        label="What is right, in one sentence"
        verb="Correct"
        before={text}
        limit={MAX_CHARS}
        isSentence
        error={error}
        isPending={isPending}
        onClose={() => open(false)}
        onSave={(sentence) => write({ attribute: id, text: sentence })}
      />
    )
  }
  const act = (name: string, label: string, onClick: () => void) => (
    <Action className="button button-small" disabled={isPending} onClick={onClick} data-act={`${name} ${id}`}>
      {label}
    </Action>
  )
  return (
    <div className="flex flex-wrap items-baseline gap-2 py-1">
      {act("correct", "Correct", () => open(true))}
      {act("remove", "Remove", () => write({ attribute: id }))}
      {by === undefined ? null : (
        <>
          {act("undo", "Undo", () => write({ attribute: id, undo: true }))}
          <span className="text-ink-2" data-by={id}>
            written by <Visible text={by} />: no dream replaces it
          </span>
        </>
      )}
      {error === null ? null : <Failed trouble={error} />}
    </div>
  )
}

/** Adds an attribute, beside all others. */
export const AddAttribute = (whose: Whose) => {
  const [isOpen, open] = useState(false)
  const { error, isPending, isSuccess, reset, write } = useWriting(whose)
  const show = () => {
    reset()
    open(true)
  }
  return isOpen && !isSuccess ? (
    <div className="p-3">
      <EditText
        label="What is known, in one sentence"
        verb="Add"
        before=""
        limit={MAX_CHARS}
        isSentence
        error={error}
        isPending={isPending}
        onClose={() => open(false)}
        onSave={(text) => write({ text })}
      />
    </div>
  ) : (
    <div className="flex flex-wrap items-baseline gap-2 p-3">
      <Action className="button button-small" onClick={show} data-add-attribute="">
        Add
      </Action>
      {isSuccess ? <Done of="new">Added: it stands there as soon as the assistant is at rest.</Done> : null}
    </div>
  )
}

const PutBack = ({ attribute: { id, text }, ...whose }: Whose & { readonly attribute: Written }) => {
  const { error, isPending, isSuccess, write } = useWriting(whose)
  return (
    <li className="flex flex-wrap items-baseline gap-2 px-3 py-2" data-removed={id}>
      <span className="min-w-0 break-words text-ink-2 line-through">
        <Visible text={text} />
      </span>
      {isSuccess ? (
        <Done of={id}>Put back as soon as the assistant is at rest.</Done>
      ) : (
        <Action
          className="button button-small"
          disabled={isPending}
          onClick={() => write({ attribute: id, undo: true })}
          data-act={`put-back ${id}`}
        >
          Put back
        </Action>
      )}
      {error === null ? null : <Failed trouble={error} />}
    </li>
  )
}

/** What persons removed of late. */
export const Removed = ({ removed, ...whose }: Whose & { readonly removed: ReadonlyArray<Written> }) =>
  removed.length === 0 ? null : (
    <Section title="Removed">
      <ul className="divide-y divide-line">
        {removed.toReversed().map((attribute) => (
          <PutBack key={attribute.id} attribute={attribute} {...whose} />
        ))}
      </ul>
    </Section>
  )
