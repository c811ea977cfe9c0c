// UseAsPrompt: what was tried becomes what the assistant is given, as a version in the prompt registry, and is undone by an earlier one.
// U1  It asks before it writes, and says whom it concerns. It is written over the version that was seen, or not at all.

import { useState } from "react"
import { useAnswer, useChange } from "../../api/questions.ts"
import { Action } from "../../parts/action.tsx"
import { ConfirmLater } from "../../parts/dialogs/confirm-later.tsx"
import { PromptVersions } from "../prompts/versions.tsx"
import { asTemplate, type Beginning, changedPrompt, type Draft, fromTemplate } from "./draft.ts"

interface UseProps {
  readonly beginning: Beginning
  readonly draft: Draft
  readonly onPrompt: (prompt: string) => void
}

const CATEGORY = "instructions"

/** The version in use, undone after asking. */
const InUse = ({
  definition,
  promptKey,
  version
}: Pick<Beginning, "definition" | "promptKey"> & { readonly version: number }) => {
  const [asked, ask] = useState(false)
  const { mutateAsync } = useChange("POST /v1/prompts/:key/undo")
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-ink-2" data-in-use={version}>
      Version {version} of the prompt registry is in use.
      <Action className="button button-small" onClick={() => ask(true)} data-undo-prompt="">
        Undo it
      </Action>
      {asked ? (
        <ConfirmLater
          title="Undo the newest prompt"
          verb="Undo"
          onClose={() => ask(false)}
          onConfirm={() => mutateAsync({ params: { key: promptKey }, payload: { expected: version } })}
        >
          From its next message on {definition} has the instructions that stood before version {version}: an earlier
          version, or those of its definition.
        </ConfirmLater>
      ) : null}
    </p>
  )
}

export const UseAsPrompt = ({ beginning, draft, onPrompt }: UseProps) => {
  const { definition, promptKey } = beginning
  const [asked, ask] = useState(false)
  const [open, setOpen] = useState(false)
  const { data, isSuccess } = useAnswer("GET /v1/prompts", {})
  const { mutateAsync } = useChange("PUT /v1/prompts/:key")
  const present = data?.items.find(({ key }) => key === promptKey)
  const prompt = changedPrompt(draft, beginning)
  const text = prompt === undefined ? undefined : asTemplate(prompt)
  const isPresent = text !== undefined && text === present?.text
  const write = () =>
    mutateAsync({
      params: { key: promptKey },
      payload: {
        name: `Instructions of ${definition}`.slice(0, 200),
        text: text ?? "",
        category: CATEGORY,
        expected: present?.version ?? 0
      }
    })
  return (
    <div className="space-y-2 border-t border-line pt-3">
      <div className="flex flex-wrap items-center gap-2">
        <Action
          className="button"
          disabled={text === undefined || isPresent || !isSuccess || promptKey === ""}
          onClick={() => ask(true)}
          data-use-prompt=""
        >
          Use as prompt…
        </Action>
        <span className="label">
          {isPresent ? "These instructions are in use." : prompt === undefined ? "Change the instructions first." : ""}
        </span>
      </div>
      {present === undefined ? null : <InUse definition={definition} promptKey={promptKey} version={present.version} />}
      {present === undefined ? null : (
        <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)} data-versions="">
          <summary>Earlier versions</summary>
          {open ? <PromptVersions promptKey={promptKey} onLoad={(text) => onPrompt(fromTemplate(text))} /> : null}
        </details>
      )}
      {asked ? (
        <ConfirmLater title="Use as prompt" verb="Use" onClose={() => ask(false)} onConfirm={write}>
          From its next message on every assistant that was created from {definition} has these instructions, in place
          of
          {present === undefined ? " those of its definition" : ` version ${present.version}`}. It is kept as a version
          of <code>{promptKey}</code> and can be undone here. Sub-agents keep the instructions of the definition.
        </ConfirmLater>
      ) : null}
    </div>
  )
}
