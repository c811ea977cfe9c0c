// CaseDialog: the tick becomes a case of an eval, a line of a file for `reverie eval`.
// Loaded when it is first opened.

import { type FormEvent, useState } from "react"
import { troubleOf } from "../../api/client.ts"
import { defined } from "../../api/defined.ts"
import { useChange } from "../../api/questions.ts"
import { Dialog } from "../../parts/dialogs/confirm.tsx"
import { fileName, saveLine } from "../../parts/export/save.ts"
import { Failed } from "../../parts/states.tsx"
import type { Payload } from "./draft.ts"

interface CaseDialogProps {
  readonly id: string
  /** What is changed of the tick. */
  readonly payload: Payload
  /** What the answer and the tools are held against at first. */
  readonly reply: string
  readonly tools: ReadonlyArray<string>
  readonly onClose: () => void
}

const linesOf = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .slice(0, 50)

const wordsOf = (text: string): ReadonlyArray<string> => linesOf(text.replaceAll(",", "\n"))

interface Wants {
  readonly name: string
  /** A text a line. */
  readonly expected: string
  /** Names with commas between. */
  readonly tools: string
}

const expectedIn = ({ expected, name, tools }: Wants) => {
  const [texts, names] = [linesOf(expected), wordsOf(tools)]
  return defined({
    name: name.trim() === "" ? undefined : name.trim(),
    expected: texts.length === 0 ? undefined : texts,
    expectedTools: names.length === 0 ? undefined : names
  })
}

const Expectations = ({
  onWants,
  wants
}: {
  readonly wants: Wants
  readonly onWants: (next: Partial<Wants>) => void
}) => (
  <>
    <label className="block space-y-1">
      <span className="label">Name</span>
      <input
        className="field w-full"
        name="case"
        maxLength={200}
        value={wants.name}
        onChange={({ target }) => onWants({ name: target.value })}
      />
    </label>
    <label className="block space-y-1">
      <span className="label">The answer must hold, one text a line</span>
      <textarea
        className="field block w-full"
        name="expected"
        rows={4}
        maxLength={20_000}
        value={wants.expected}
        onChange={({ target }) => onWants({ expected: target.value })}
      />
    </label>
    <label className="block space-y-1">
      <span className="label">Tools that must be called, with commas between</span>
      <input
        className="field w-full font-mono"
        name="tools"
        maxLength={2_000}
        value={wants.tools}
        onChange={({ target }) => onWants({ tools: target.value })}
      />
    </label>
  </>
)

export const CaseDialog = ({ id, onClose, payload, reply, tools }: CaseDialogProps) => {
  const { model: _model, ...changed } = payload
  const [wants, setWants] = useState<Wants>({
    name: `${id} run ${payload.tick}`,
    expected: linesOf(reply).join("\n"),
    tools: tools.join(", ")
  })
  const { data, error, isPending, mutateAsync } = useChange("POST /v1/assistants/:id/eval-cases")
  const file = `${fileName("case", id, payload.tick)}.jsonl`
  const save = async (): Promise<void> => {
    saveLine(file, await mutateAsync({ params: { id }, payload: { ...changed, ...expectedIn(wants) } }))
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void save().catch(() => {})
  }
  const isChanged = changed.prompt !== undefined || changed.results !== undefined || changed.stubs !== undefined
  return (
    <Dialog title="Save as eval case" onClose={onClose}>
      <form className="space-y-4" onSubmit={submit} data-case-form="">
        <p className="text-ink-2">
          The file holds this run and the life before it{isChanged ? ", and what was changed on this page" : ""}. Append
          the lines of several files, and they are one eval.
        </p>
        <Expectations wants={wants} onWants={(next) => setWants((before) => ({ ...before, ...next }))} />
        <p className="label">Where both are empty, the answer must be the recorded one.</p>
        {error === null ? null : <Failed trouble={troubleOf(error)} />}
        {data === undefined ? null : (
          <p role="status" data-saved-case={file}>
            Saved. Run it with <code className="break-words">reverie eval {file} --fleet FILE --model NAME</code>
          </p>
        )}
        <div className="flex justify-end gap-2">
          <button type="button" className="button" onClick={onClose}>
            {data === undefined ? "Cancel" : "Close"}
          </button>
          <button type="submit" className="button button-primary" disabled={isPending} data-save-case="">
            {isPending ? "Saving…" : "Save"}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
