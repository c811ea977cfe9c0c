// DeadLetters: dead letters, why, and the ways to retry and to discard each.

import { Link } from "@tanstack/react-router"
import { useState } from "react"
import type { Answer } from "../../api/contract.ts"
import { useChange } from "../../api/questions.ts"
import { ConfirmLater } from "../../parts/dialogs/confirm-later.tsx"
import { Export } from "../../parts/export/export.tsx"
import { count } from "../../parts/format.ts"
import { Section } from "../../parts/page.tsx"
import { Empty } from "../../parts/states.tsx"
import { TextView, Visible } from "../../parts/text.tsx"
import { Ago } from "../../parts/time.tsx"

type Letter = NonNullable<Answer<"GET /v1/queues">["deadLetters"]>[number]

interface Asked {
  readonly letter: Letter
  readonly order: "again" | "discard"
}

const Row = ({ letter, onOrder }: { readonly letter: Letter; readonly onOrder: (asked: Asked) => void }) => {
  const { assistant, at, envelope, reason, text, type } = letter
  return (
    <tr data-dead={envelope} data-assistant={assistant}>
      <td>
        <Link to="/a/$id" params={{ id: assistant }} className="font-medium">
          <Visible text={assistant} />
        </Link>
      </td>
      <td data-title="Event">{type ?? "unreadable"}</td>
      <td className="max-w-md" data-title="Why">
        <Visible text={reason} />
      </td>
      <td className="max-w-md" data-title="What was said">
        {text === undefined || text.trim() === "" ? (
          <span className="text-ink-3">{text === undefined ? "–" : "only blanks"}</span>
        ) : (
          <details className="said-more">
            <summary className="max-w-96 truncate">
              <Visible text={text.slice(0, 200)} />
            </summary>
            <TextView text={text} label="What was said" />
          </details>
        )}
      </td>
      <td className="text-ink-2" data-title="Dead-lettered">
        <Ago at={at} />
      </td>
      <td data-align="end">
        <span className="inline-flex gap-2">
          <button
            type="button"
            className="button button-small"
            data-retry={envelope}
            onClick={() => onOrder({ letter, order: "again" })}
          >
            Retry
          </button>
          <button
            type="button"
            className="button button-small"
            data-discard={envelope}
            onClick={() => onOrder({ letter, order: "discard" })}
          >
            Discard
          </button>
        </span>
      </td>
    </tr>
  )
}

interface QuestionProps {
  readonly letter: Letter
  readonly onClose: () => void
}

const askedOf = ({ assistant, envelope }: Letter) => ({
  params: { id: assistant },
  payload: { envelope }
})

const AskAgain = ({ letter, onClose }: QuestionProps) => {
  const { mutateAsync } = useChange("POST /v1/dead-letters/:id/retry")
  return (
    <ConfirmLater title="Retry it?" verb="Retry" onClose={onClose} onConfirm={() => mutateAsync(askedOf(letter))}>
      It goes to <Visible text={letter.assistant} /> under a new id. Whatever broke it may break it again: it would be
      dead-lettered again, with the reason.
    </ConfirmLater>
  )
}

const AskDiscard = ({ letter, onClose }: QuestionProps) => {
  const { mutateAsync } = useChange("POST /v1/dead-letters/:id/discard")
  return (
    <ConfirmLater
      title="Discard it?"
      verb="Discard"
      danger
      onClose={onClose}
      onConfirm={() => mutateAsync(askedOf(letter))}
    >
      It is not sent to <Visible text={letter.assistant} />, and leaves this list for good. That it was dead-lettered,
      and why, stays in the history.
    </ConfirmLater>
  )
}

export const DeadLetters = ({ items }: { readonly items: ReadonlyArray<Letter> }) => {
  const [asked, ask] = useState<Asked>()
  const Question = asked?.order === "again" ? AskAgain : AskDiscard
  return (
    <Section
      title="Dead letters"
      side={
        <span className="flex items-center gap-2">
          <span className="label tabular">{count(items.length)}</span>
          <Export name="dead letters" route="GET /v1/dead-letters" asked={{}} />
        </span>
      }
      className="overflow-x-auto"
    >
      {items.length === 0 ? (
        <Empty title="No dead letters">What breaks its reader ends here, with the reason, and holds up no one.</Empty>
      ) : (
        <table className="plain-table stack-table" data-dead-letters={items.length}>
          <thead>
            <tr>
              {["Assistant", "Event", "Why", "What was said", "Dead-lettered"].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
              <th scope="col">
                <span className="sr-only">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {items.map((letter) => (
              <Row key={`${letter.assistant} ${letter.envelope}`} letter={letter} onOrder={ask} />
            ))}
          </tbody>
        </table>
      )}
      {asked === undefined ? null : <Question letter={asked.letter} onClose={() => ask(undefined)} />}
    </Section>
  )
}
