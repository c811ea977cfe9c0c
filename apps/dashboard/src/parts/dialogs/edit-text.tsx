// EditText: a text is written anew in its place, with a counter and what the change comes to.
// Owns what is being written. Leaves sending it, and what it is for, to the page.
// E1  Nothing is saved that says the same as before, nothing is empty, and nothing is longer than its limit.
// E2  What has changed is shown before it is saved.

import { useState } from "react"
import { troubleOf } from "../../api/client.ts"
import { DiffView } from "../structured/diff-view.tsx"
import { count } from "../format.ts"
import { Failed } from "../states.tsx"

interface EditTextProps {
  /** Of the field, for those who hear the page. */
  readonly label: string
  /** As it stands. */
  readonly before: string
  /** What the field begins with, where that is not the text as it stands. */
  readonly draft?: string
  /** Most characters. */
  readonly limit?: number | undefined
  readonly mayBeEmpty?: boolean
  /** One sentence or a few: spaces around it are no part of it. */
  readonly isSentence?: boolean
  /** What the button says; Save when left out. */
  readonly verb?: string
  readonly error: unknown
  readonly isPending: boolean
  readonly onSave: (text: string) => void
  readonly onClose: () => void
}

export const EditText = (props: EditTextProps) => {
  const { before, draft = before, error, isPending, isSentence = false, label, limit } = props
  const { mayBeEmpty = false, onClose, onSave, verb = "Save" } = props
  const [written, write] = useState(draft)
  const text = isSentence ? written.trim() : written
  const isTooLong = limit !== undefined && text.length > limit
  const isChanged = text !== (isSentence ? before.trim() : before)
  const isFit = isChanged && !isTooLong && (mayBeEmpty || text.trim() !== "")
  return (
    <form
      className="space-y-2"
      data-edit-text={isFit ? "fit" : "unfit"}
      onSubmit={(event) => {
        event.preventDefault()
        if (isFit) onSave(text)
      }}
    >
      <label className="block">
        <span className={isSentence ? "label" : "sr-only"}>{label}</span>
        <textarea
          className={`field block w-full ${isSentence ? "" : "font-mono"}`}
          name="text"
          rows={isSentence ? 2 : Math.min(24, Math.max(6, text.split("\n").length + 1))}
          value={written}
          autoFocus
          onChange={({ target }) => write(target.value)}
        />
      </label>
      <p className={`label tabular ${isTooLong ? "text-bad" : ""}`} data-chars={text.length}>
        {count(text.length)}
        {limit === undefined ? "" : ` of ${count(limit)}`} characters
        {isTooLong ? ": too many" : ""}
      </p>
      {isChanged ? <DiffView before={before} after={text} label="What changes" /> : null}
      {error === null || error === undefined ? null : <Failed trouble={troubleOf(error)} />}
      <div className="flex gap-2">
        <button type="submit" className="button button-small button-primary" disabled={!isFit || isPending}>
          {verb}
        </button>
        <button type="button" className="button button-small" onClick={onClose}>
          Cancel
        </button>
      </div>
    </form>
  )
}
