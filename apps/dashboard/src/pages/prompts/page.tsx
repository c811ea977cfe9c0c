// Prompts: the templates that stand in prompts, each with its text, its versions, and undoing the newest.
// P1  It is written over the version that was seen, or not at all.
// P2  A template that is built in is changed by writing another of its key over it; undoing that brings it back.

import { createLazyRoute, getRouteApi } from "@tanstack/react-router"
import { useState } from "react"
import type { Answer } from "../../api/contract.ts"
import { defined } from "../../api/defined.ts"
import { useAnswer, useChange } from "../../api/questions.ts"
import { Action } from "../../parts/action.tsx"
import { ConfirmLater } from "../../parts/dialogs/confirm-later.tsx"
import { EditText } from "../../parts/dialogs/edit-text.tsx"
import { Export } from "../../parts/export/export.tsx"
import { many } from "../../parts/format.ts"
import { Page, Section } from "../../parts/page.tsx"
import { Answered, Empty, isReady } from "../../parts/states.tsx"
import { TextView, Visible } from "../../parts/text.tsx"
import { PromptVersions } from "./versions.tsx"

type Template = Answer<"GET /v1/prompts">["items"][number]

const MOST_CHARS = 100_000

const route = getRouteApi("/prompts")

const Line = ({ isOpen, onOpen, template }: { template: Template; isOpen: boolean; onOpen: () => void }) => (
  <li className="memory-item" data-prompt={template.key} {...(isOpen ? { "data-open": "" } : {})}>
    <button type="button" className="block w-full px-3 py-2 text-left" aria-pressed={isOpen} onClick={onOpen}>
      <span className="block truncate font-semibold">
        <Visible text={template.name} />
      </span>
      <span className="flex justify-between gap-2 text-ink-2">
        <code className="truncate">
          <Visible text={template.key} />
        </code>
        <span className="tabular whitespace-nowrap">
          {template.builtin ? "built in" : `version ${template.version}`}
        </span>
      </span>
    </button>
  </li>
)

const Undo = ({ onClose, template }: { readonly template: Template; readonly onClose: () => void }) => {
  const { mutateAsync } = useChange("POST /v1/prompts/:key/undo")
  return (
    <ConfirmLater
      title="Undo the newest change?"
      verb="Undo"
      onClose={onClose}
      onConfirm={() => mutateAsync({ params: { key: template.key }, payload: { expected: template.version } })}
    >
      What stood before version {template.version} of <Visible text={template.name} /> stands in every prompt from the
      next message on.
    </ConfirmLater>
  )
}

const Editing = ({ draft, onClose, template }: { template: Template; draft: string; onClose: () => void }) => {
  const { category, description, key, name, text, version } = template
  const { error, isPending, mutate } = useChange("PUT /v1/prompts/:key")
  const save = (next: string) =>
    mutate(
      { params: { key }, payload: { name, text: next, expected: version, ...defined({ category, description }) } },
      { onSuccess: onClose }
    )
  return (
    <EditText
      label={`Text of ${name}`}
      before={text}
      draft={draft}
      limit={MOST_CHARS}
      error={error}
      isPending={isPending}
      onClose={onClose}
      onSave={save}
    />
  )
}

const Opened = ({ template }: { readonly template: Template }) => {
  const [draft, edit] = useState<string>()
  const [asks, ask] = useState(false)
  const { builtin, category, description, key, name, text } = template
  return (
    <div className="grid min-w-0 grid-cols-1 content-start gap-4">
      <Section
        title={name}
        side={
          <span className="flex flex-wrap gap-2">
            <Action className="button button-small" onClick={() => edit(text)} data-edit-prompt={key}>
              Edit
            </Action>
            <Action className="button button-small" disabled={builtin} onClick={() => ask(true)} data-undo-prompt={key}>
              Undo
            </Action>
          </span>
        }
      >
        <div className="space-y-2 p-3">
          {description === undefined ? null : (
            <p className="text-ink-2">
              <Visible text={description} />
            </p>
          )}
          {category === undefined ? null : (
            <p className="label">
              Category: <Visible text={category} />
            </p>
          )}
          {draft === undefined ? (
            <TextView text={text} label="Text of the template" />
          ) : (
            <Editing key={draft} template={template} draft={draft} onClose={() => edit(undefined)} />
          )}
        </div>
      </Section>
      <Section title="Versions">
        <PromptVersions promptKey={key} onLoad={edit} />
      </Section>
      {asks ? <Undo template={template} onClose={() => ask(false)} /> : null}
    </div>
  )
}

const PromptsPage = () => {
  const { open } = route.useSearch()
  const navigate = route.useNavigate()
  const all = useAnswer("GET /v1/prompts", {})
  return (
    <Page
      name="prompts"
      title="Prompts"
      ready={isReady(all)}
      side={
        <>
          <span className="text-ink-2">{many(all.data?.items.length ?? 0, "template")}</span>
          <Export name="prompts" route="GET /v1/prompts" asked={{}} isPaged={false} />
        </>
      }
    >
      <Answered of={all} lines={6}>
        {({ items }) => {
          const shown = items.find(({ key }) => key === open) ?? items[0]
          if (shown === undefined) {
            return (
              <section className="card">
                <Empty title="No templates yet">
                  What is tried in a playground becomes one, and `fleet.prompts` of the SDK writes them.
                </Empty>
              </section>
            )
          }
          return (
            <div className="grid min-w-0 grid-cols-1 items-start gap-4 lg:grid-cols-[19rem_minmax(0,1fr)]">
              <Section title="Templates">
                <ul data-prompts={items.length}>
                  {items.map((template) => (
                    <Line
                      key={template.key}
                      template={template}
                      isOpen={template.key === shown.key}
                      onOpen={() => void navigate({ search: { open: template.key } })}
                    />
                  ))}
                </ul>
              </Section>
              <Opened key={shown.key} template={shown} />
            </div>
          )
        }}
      </Answered>
    </Page>
  )
}

export const page = createLazyRoute("/prompts")({ component: PromptsPage })
