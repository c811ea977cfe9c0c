// Blocks: the documents that stand in every prompt: how full, what they say, who wrote which version, and undoing it.
// L1  A version is shown as what it changed in the one before it.

import { Link } from "@tanstack/react-router"
import { useState } from "react"
import type { Answer } from "../../api/contract.ts"
import { useAnswer, useChange } from "../../api/questions.ts"
import { Action } from "../../parts/action.tsx"
import { ConfirmLater } from "../../parts/dialogs/confirm-later.tsx"
import { EditText } from "../../parts/dialogs/edit-text.tsx"
import { DiffView } from "../../parts/structured/diff-view.tsx"
import { count, percent } from "../../parts/format.ts"
import { JsonView } from "../../parts/structured/json.tsx"
import { Section } from "../../parts/page.tsx"
import { Answered, Empty } from "../../parts/states.tsx"
import { TextView, Visible } from "../../parts/text.tsx"
import { Ago } from "../../parts/time.tsx"
import { Fill } from "../../parts/token-bar.tsx"
import { StackTable } from "../../parts/structured/stack-table.tsx"
import type { ListProps } from "./facts.tsx"

type Block = Answer<"GET /v1/assistants/:id/memory">["blocks"][number]
type Version = Answer<"GET /v1/blocks/:block/versions">["items"][number]

/** `ReadWrite` as people write it. */
const inWords = (permission: string): string => permission.replace(/([a-z])([A-Z])/g, "$1-$2").toLowerCase()

const Card = ({ block, isOpen, onOpen }: { block: Block; isOpen: boolean; onOpen: () => void }) => {
  const { charLimit, chars, id, label, permission, pinned, sharedFrom, type, version } = block
  return (
    <li
      data-block={id}
      data-version={version}
      data-shared-from={sharedFrom}
      {...(isOpen ? { "data-open": "" } : {})}
      className="memory-item"
    >
      <button type="button" className="block w-full px-3 py-2 text-left" aria-pressed={isOpen} onClick={onOpen}>
        <span className="flex items-baseline justify-between gap-2">
          <span className="min-w-0 font-semibold wrap-anywhere" data-label="">
            <Visible text={label} />
          </span>
          <span className="tabular whitespace-nowrap text-ink-2">version {version}</span>
        </span>
        <span className="mt-1 grid grid-cols-[minmax(0,1fr)_auto] items-center gap-3 text-ink-2">
          {charLimit === undefined ? (
            <span>{count(chars)} characters, no limit</span>
          ) : (
            <span title={`${count(chars)} of ${count(charLimit)} characters`}>
              <Fill share={chars / charLimit} />
            </span>
          )}
          <span className="label">
            {type}, {inWords(permission)}
            {pinned ? ", pinned" : ""}
          </span>
        </span>
        {sharedFrom === undefined ? null : (
          <span className="mt-1 block text-ink-2">
            shared by <Visible text={sharedFrom} />
          </span>
        )}
      </button>
    </li>
  )
}

const Versions = ({
  items,
  onPick,
  shown
}: {
  items: ReadonlyArray<Version>
  shown: number | undefined
  onPick: (version: number) => void
}) => (
  <StackTable className="tight-table" data-versions={items.length}>
    <thead>
      <tr>
        <th scope="col" data-align="end">
          Version
        </th>
        <th scope="col">Who wrote it</th>
        <th scope="col">What for</th>
        <th scope="col">When</th>
      </tr>
    </thead>
    <tbody>
      {items.map(({ at, by, message, restores, version }) => (
        <tr key={version} data-version={version} data-by={by} {...(version === shown ? { "data-open": "" } : {})}>
          <td data-align="end">
            <button
              type="button"
              className="tabular text-accent hover:underline"
              onClick={() => onPick(version)}
              data-open-version={version}
            >
              {version}
            </button>
          </td>
          <td>
            <Visible text={by} />
          </td>
          <td className="text-ink-2">
            {restores === undefined ? null : `reverts to version ${restores} `}
            {message === undefined ? null : <Visible text={message} />}
          </td>
          <td className="text-ink-2">
            <Ago at={at} />
          </td>
        </tr>
      ))}
    </tbody>
  </StackTable>
)

const Changed = ({ block, earlier, version }: { block: string; version: number; earlier: number | undefined }) => {
  const after = useAnswer("GET /v1/blocks/:block", { params: { block }, query: { version } })
  const before = useAnswer(
    "GET /v1/blocks/:block",
    { params: { block }, query: { version: earlier ?? 0 } },
    { enabled: earlier !== undefined }
  )
  return (
    <Answered of={after} lines={5}>
      {({ text }) =>
        earlier === undefined ? (
          <DiffView before="" after={text} label={`Version ${version}`} />
        ) : (
          <Answered of={before} lines={5}>
            {(found) => (
              <DiffView before={found.text} after={text} label={`Version ${earlier} to version ${version}`} />
            )}
          </Answered>
        )
      }
    </Answered>
  )
}

/** What is a text, and no form with parts of its own, is edited as one. */
const isText = (content: unknown): boolean =>
  typeof content === "string" ||
  (typeof content === "object" && content !== null && Object.keys(content).join() === "text")

interface NowProps {
  readonly block: Block
  readonly isEdited: boolean
  readonly onEdited: () => void
}

const Editing = ({ block, onEdited, text }: Omit<NowProps, "isEdited"> & { readonly text: string }) => {
  const { error, isPending, mutate } = useChange("POST /v1/blocks/:block/edits")
  return (
    <EditText
      label={`Text of ${block.label}`}
      before={text}
      limit={block.charLimit}
      mayBeEmpty
      error={error}
      isPending={isPending}
      onClose={onEdited}
      onSave={(next) =>
        mutate(
          (key) => ({ params: { block: block.id }, payload: { operation: { op: "set_text", text: next }, key } }),
          { onSuccess: onEdited }
        )
      }
    />
  )
}

const Now = ({ block, isEdited, onEdited }: NowProps) => {
  const now = useAnswer("GET /v1/blocks/:block", { params: { block: block.id } })
  return (
    <Answered of={now} lines={5}>
      {({ content, text }) =>
        isEdited && isText(content) ? (
          <Editing block={block} onEdited={onEdited} text={text} />
        ) : (
          <>
            {isEdited ? <p className="text-ink-2">It has parts of its own, which its tools and the SDK edit.</p> : null}
            {text === "" ? (
              <p className="text-ink-2">It is empty.</p>
            ) : (
              <TextView text={text} label="Text of the block" />
            )}
            {typeof content === "object" && content !== null ? (
              <details className="pt-2">
                <summary>Raw</summary>
                <div className="pt-2">
                  <JsonView value={content} label="Content of the block" />
                </div>
              </details>
            ) : null}
          </>
        )
      }
    </Answered>
  )
}

interface OpenedProps {
  readonly block: Block
  readonly version: number | undefined
  readonly onVersion: (version: number | undefined) => void
}

const Undo = ({ block, onClose }: { readonly block: Block; readonly onClose: () => void }) => {
  const { mutateAsync } = useChange("POST /v1/blocks/:block/undo")
  return (
    <ConfirmLater
      title="Undo the newest change?"
      verb="Undo"
      onClose={onClose}
      onConfirm={() => mutateAsync({ params: { block: block.id } })}
    >
      Version {block.version} of <Visible text={block.label} /> is reverted by a new version. Anyone who shares the
      block reads it with the next prompt.
    </ConfirmLater>
  )
}

interface HeadProps extends OpenedProps {
  readonly onUndo: () => void
  readonly onEdit: () => void
}

const Head = ({ block, onEdit, onUndo, onVersion, version }: HeadProps) => {
  const { charLimit, chars, id } = block
  return (
    <span className="flex flex-wrap items-center gap-2">
      <span className="label tabular">
        {count(chars)}
        {charLimit === undefined ? "" : ` of ${count(charLimit)}`} characters
        {charLimit === undefined ? "" : `, ${percent(chars / charLimit)}`}
      </span>
      {version === undefined ? null : (
        <button type="button" className="button button-small" onClick={() => onVersion(undefined)} data-version-now="">
          As it is now
        </button>
      )}
      {version === undefined ? (
        <Action className="button button-small" onClick={onEdit} data-edit-block={id}>
          Edit
        </Action>
      ) : null}
      <Action className="button button-small" disabled={block.version <= 1} onClick={onUndo} data-undo-block={id}>
        Undo
      </Action>
    </span>
  )
}

const Belongs = ({ block, to }: { readonly block: string; readonly to: string | undefined }) =>
  to === undefined ? null : (
    <p className="pb-2 text-ink-2">
      It belongs to{" "}
      <Link to="/a/$id/memory" params={{ id: to }} search={{ open: block }}>
        <Visible text={to} />
      </Link>
      , who shares it. A change is seen by everyone who reads it.
    </p>
  )

const Opened = ({ block, onVersion, version }: OpenedProps) => {
  const versions = useAnswer("GET /v1/blocks/:block/versions", {
    params: { block: block.id },
    query: { limit: 100 }
  })
  const [asks, ask] = useState(false)
  const [isEdited, edit] = useState(false)
  const items = versions.data?.items ?? []
  const at = items.findIndex((each) => each.version === version)
  const { description, sharedFrom } = block
  return (
    <div className="grid min-w-0 grid-cols-1 content-start gap-4">
      <Section
        title={version === undefined ? "What it says" : `What version ${version} changed`}
        side={
          <Head
            block={block}
            version={version}
            onVersion={onVersion}
            onUndo={() => ask(true)}
            onEdit={() => edit(true)}
          />
        }
      >
        <div className="p-3">
          <Belongs block={block.id} to={sharedFrom} />
          {description === undefined || version !== undefined ? null : (
            <p className="pb-2 text-ink-2">
              <Visible text={description} />
            </p>
          )}
          {version === undefined ? (
            <Now key={block.version} block={block} isEdited={isEdited} onEdited={() => edit(false)} />
          ) : (
            <Changed block={block.id} version={version} earlier={items[at + 1]?.version} />
          )}
        </div>
      </Section>
      <Section title="Versions" className="overflow-x-auto">
        <Answered of={versions}>
          {(found) => (
            <Versions
              items={found.items}
              shown={version}
              onPick={(next) => onVersion(next === version ? undefined : next)}
            />
          )}
        </Answered>
      </Section>
      {asks ? <Undo block={block} onClose={() => ask(false)} /> : null}
    </div>
  )
}

export const Blocks = ({
  blocks,
  onChange,
  search
}: Omit<ListProps, "id"> & { readonly blocks: ReadonlyArray<Block> }) => {
  const { open, version } = search
  const shown = blocks.find(({ id }) => id === open) ?? blocks[0]
  if (shown === undefined) {
    return (
      <section className="card">
        <Empty title="It has no memory blocks">
          A definition gives them with its creation, and people may add more.
        </Empty>
      </section>
    )
  }
  return (
    <div className="grid min-w-0 grid-cols-1 items-start gap-4 lg:grid-cols-[19rem_minmax(0,1fr)]">
      <Section title="Blocks" side={<span className="label tabular">{blocks.length}</span>}>
        <ul>
          {blocks.map((block) => (
            <Card
              key={block.id}
              block={block}
              isOpen={block.id === shown.id}
              onOpen={() => onChange({ open: block.id, version: undefined })}
            />
          ))}
        </ul>
      </Section>
      <Opened
        key={shown.id}
        block={shown}
        version={version}
        onVersion={(next) => onChange({ open: shown.id, version: next })}
      />
    </div>
  )
}
