// WriteFact: a person writes what is right in the place of a fact, or a fact of their own.
// W1  Nothing is sent before there is a sentence that says something else; the old one stays in view while one writes.

import { type ReactNode, useState } from "react"
import { useChange } from "../../api/questions.ts"
import { Action } from "../../parts/action.tsx"
import { EditText } from "../../parts/dialogs/edit-text.tsx"

const MAX_CHARS = 2_000

/** That it was asked for: it is there when the assistant is at rest. */
export const Done = ({ children, of }: { readonly of: string; readonly children: ReactNode }) => (
  <p className="text-ink-2" role="status" data-written={of}>
    {children}
  </p>
)

/** Writes what is right in the place of one fact. */
export const Correct = ({
  fact,
  id,
  isOpen,
  open
}: {
  readonly fact: { readonly id: string; readonly text: string }
  readonly id: string
  readonly isOpen: boolean
  readonly open: (isOpen: boolean) => void
}) => {
  const { error, isPending, isSuccess, mutate } = useChange("POST /v1/assistants/:id/memory/facts/:fact/correct")
  if (isSuccess)
    return <Done of={fact.id}>Corrected: your sentence takes its place as soon as the assistant is at rest.</Done>
  return isOpen ? (
    <div className="basis-full">
      <EditText
        label="What is right, in one sentence with names"
        verb="Correct"
        before={fact.text}
        limit={MAX_CHARS}
        isSentence
        error={error}
        isPending={isPending}
        onClose={() => open(false)}
        onSave={(text) =>
          mutate((key) => ({ params: { id, fact: fact.id }, headers: { "idempotency-key": key }, payload: { text } }))
        }
      />
    </div>
  ) : (
    <Action className="button button-small" onClick={() => open(true)} data-correct={fact.id}>
      Correct
    </Action>
  )
}

/** Adds a fact, beside all others. */
export const AddFact = ({ id }: { readonly id: string }) => {
  const [isOpen, open] = useState(false)
  const { error, isPending, isSuccess, mutate, reset } = useChange("POST /v1/assistants/:id/memory/facts")
  const show = () => {
    reset()
    open(true)
  }
  return isOpen && !isSuccess ? (
    <div className="basis-full">
      <EditText
        label="A fact, in one sentence with names"
        verb="Add"
        before=""
        limit={MAX_CHARS}
        isSentence
        error={error}
        isPending={isPending}
        onClose={() => open(false)}
        onSave={(text) => mutate((key) => ({ params: { id }, headers: { "idempotency-key": key }, payload: { text } }))}
      />
    </div>
  ) : (
    <>
      <Action className="button button-small" onClick={show} data-add-fact="">
        Add a fact
      </Action>
      {isSuccess ? <Done of="new">Added: it holds as soon as the assistant is at rest.</Done> : null}
    </>
  )
}
