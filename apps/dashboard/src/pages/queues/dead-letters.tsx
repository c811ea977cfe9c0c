// DeadLetters: dead letters, why, what was sent, and the ways to retry and to discard: each, or all that match.

import { senderName } from "@reverie/protocol/spoken"
import { Link } from "@tanstack/react-router"
import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { change, Trouble, troubleOf } from "../../api/client.ts"
import type { Answer } from "../../api/contract.ts"
import { isAskedAgain, useAnswer, useChange } from "../../api/questions.ts"
import { Action } from "../../parts/action.tsx"
import { ConfirmLater } from "../../parts/dialogs/confirm-later.tsx"
import { Export } from "../../parts/export/export.tsx"
import { count, many } from "../../parts/format.ts"
import { JsonView } from "../../parts/structured/json.tsx"
import { Section } from "../../parts/page.tsx"
import { SearchField } from "../../parts/search-field.tsx"
import { Answered, Empty } from "../../parts/states.tsx"
import { TextView, Visible } from "../../parts/text.tsx"
import { Ago } from "../../parts/time.tsx"

type Letter = NonNullable<Answer<"GET /v1/queues">["deadLetters"]>[number]

interface Asked {
  readonly letter: Letter
  readonly order: "again" | "discard"
}

const said = (text: string | undefined): string =>
  text === undefined ? "show the event" : text.trim() === "" ? "only blanks" : text.slice(0, 200)

/** The whole event, and the run that ended with it: read when it is opened. */
const Sent = ({ letter: { assistant, envelope, text } }: { readonly letter: Letter }) => {
  const [isOpen, open] = useState(false)
  return (
    <details className="said-more" data-sent={envelope} onToggle={({ currentTarget }) => open(currentTarget.open)}>
      <summary className="max-w-96 truncate">
        <Visible text={said(text)} />
      </summary>
      {isOpen ? <Whole assistant={assistant} envelope={envelope} /> : null}
    </details>
  )
}

const Whole = ({ assistant, envelope }: { readonly assistant: string; readonly envelope: string }) => {
  const asked = { params: { id: assistant }, query: { envelope } }
  const letter = useAnswer("GET /v1/dead-letters/:id/letter", asked, { staleMillis: Infinity })
  return (
    <Answered of={letter}>
      {({ acceptedAt, event, from, text, tick }) => (
        <div className="space-y-1.5 py-1">
          <p className="text-ink-2">
            {from === undefined ? null : (
              <>
                from <Visible text={senderName(from)} />{" "}
              </>
            )}
            {acceptedAt === undefined ? null : <Ago at={acceptedAt} />}
          </p>
          {text === undefined ? null : <TextView text={text} label="What was said" />}
          {event === undefined ? (
            <p className="text-ink-2">The event can not be read.</p>
          ) : (
            <JsonView value={event} label={`Event of ${envelope}`} />
          )}
          {tick === undefined ? null : (
            <Link to="/a/$id/timeline" params={{ id: assistant }} search={{ tick }} data-failed-run={tick}>
              Run {count(tick)}, which ended with it
            </Link>
          )}
        </div>
      )}
    </Answered>
  )
}

const Row = ({ letter, onOrder }: { readonly letter: Letter; readonly onOrder: (asked: Asked) => void }) => {
  const { assistant, at, envelope, isRetired = false, reason, type } = letter
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
      <td className="max-w-md" data-title="What was sent">
        <Sent letter={letter} />
      </td>
      <td className="text-ink-2" data-title="Dead-lettered">
        <Ago at={at} />
      </td>
      <td data-align="end">
        <span className="inline-flex gap-2">
          {isRetired ? (
            <span className="self-center text-ink-2" data-retired={envelope}>
              retired
            </span>
          ) : (
            <Action
              className="button button-small"
              data-retry={envelope}
              onClick={() => onOrder({ letter, order: "again" })}
            >
              Retry
            </Action>
          )}
          <Action
            className="button button-small"
            data-discard={envelope}
            onClick={() => onOrder({ letter, order: "discard" })}
          >
            Discard
          </Action>
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

type Order = Asked["order"]

/** Each on its own: one that is refused holds up no other. */
const orderAll = async (letters: ReadonlyArray<Letter>, order: Order): Promise<ReadonlyArray<Trouble>> => {
  const refused: Array<Trouble> = []
  const route = order === "again" ? "POST /v1/dead-letters/:id/retry" : "POST /v1/dead-letters/:id/discard"
  for (const letter of letters)
    await change(route, askedOf(letter)).catch((error: unknown) => refused.push(troubleOf(error)))
  return refused
}

interface AllProps {
  /** Those that are meant, as they were when it was asked. */
  readonly letters: ReadonlyArray<Letter>
  readonly order: Order
  readonly onClose: () => void
}

const AskAll = ({ letters, onClose, order }: AllProps) => {
  const client = useQueryClient()
  const isRetry = order === "again"
  const verb = `${isRetry ? "Retry" : "Discard"} ${count(letters.length)}`
  return (
    <ConfirmLater
      title={`${isRetry ? "Retry" : "Discard"} ${many(letters.length, "dead letter")}?`}
      verb={verb}
      danger={!isRetry}
      onClose={onClose}
      onConfirm={async () => {
        const refused = await orderAll(letters, order)
        void client.invalidateQueries({ predicate: isAskedAgain })
        const [first] = refused
        if (first === undefined) return
        const { hint, status, tag } = first
        const message = `${refused.length} of ${letters.length} could not be done: ${first.message}`
        throw new Trouble({ tag, status, message, hint })
      }}
    >
      {isRetry
        ? "Each goes to its assistant under a new id. What fails again is dead-lettered again, with the reason."
        : "They are sent to no one, and leave this list for good. That they were dead-lettered stays in the history."}
    </ConfirmLater>
  )
}

/** Those in which the words stand. */
const meantBy = (items: ReadonlyArray<Letter>, words = ""): ReadonlyArray<Letter> => {
  const wanted = words.trim().toLowerCase()
  return items.filter(({ assistant, reason, text = "", type = "" }) =>
    `${assistant} ${type} ${reason} ${text}`.toLowerCase().includes(wanted)
  )
}

/** Those of assistants that have not retired. */
const sendable = (letters: ReadonlyArray<Letter>): ReadonlyArray<Letter> =>
  letters.filter(({ isRetired = false }) => !isRetired)

interface AllButtonsProps {
  readonly letters: ReadonlyArray<Letter>
  readonly isFiltered: boolean
  readonly onOrder: (order: Order) => void
}

const AllButtons = ({ isFiltered, letters, onOrder }: AllButtonsProps) => {
  if (letters.length < 2 && !isFiltered) return null
  const meant = { again: sendable(letters).length, discard: letters.length }
  return (
    <span className="flex flex-wrap gap-2">
      {(["again", "discard"] as const).map((order) => (
        <Action
          key={order}

          className="button button-small"
          disabled={meant[order] === 0}
          data-all={order}
          onClick={() => onOrder(order)}
        >
          {`${order === "again" ? "Retry" : "Discard"} all ${count(meant[order])}${isFiltered ? " that match" : ""}`}
        </Action>
      ))}
    </span>
  )
}

interface LettersProps {
  readonly items: ReadonlyArray<Letter>
  readonly onOrder: (asked: Asked) => void
}

const Letters = ({ items, onOrder }: LettersProps) => (
  <table className="plain-table stack-table" data-dead-letters={items.length}>
    <thead>
      <tr>
        {["Assistant", "Event", "Why", "What was sent", "Dead-lettered"].map((title) => (
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
        <Row key={`${letter.assistant} ${letter.envelope}`} letter={letter} onOrder={onOrder} />
      ))}
    </tbody>
  </table>
)

interface DeadLettersProps {
  readonly items: ReadonlyArray<Letter>
  readonly words: string | undefined
  readonly onSearch: (words: string | undefined) => void
}

export const DeadLetters = ({ items, onSearch, words }: DeadLettersProps) => {
  const meant = meantBy(items, words)
  // Asked here, not beside the letters: what came of it is said also where none of them is left.
  const [asked, ask] = useState<Asked>()
  const [askedAll, askAll] = useState<Omit<AllProps, "onClose">>()
  const Question = asked?.order === "again" ? AskAgain : AskDiscard
  return (
    <Section
      title="Dead letters"
      side={
        <span className="flex flex-wrap items-center gap-2">
          <span className="label tabular" data-dead-matched={meant.length}>
            {words === undefined ? count(items.length) : `${count(meant.length)} of ${count(items.length)}`}
          </span>
          <Export name="dead letters" route="GET /v1/dead-letters" asked={{}} />
        </span>
      }
      className="overflow-x-auto"
    >
      {items.length === 0 ? (
        <Empty title="No dead letters">What breaks its reader ends here, with the reason, and holds up no one.</Empty>
      ) : (
        <>
          <div className="flex flex-wrap items-center gap-2 border-b border-line px-3 py-2">
            <SearchField label="Search dead letters" value={words} onSearch={onSearch} />
            <AllButtons
              letters={meant}
              isFiltered={words !== undefined}
              onOrder={(order) => askAll({ letters: order === "again" ? sendable(meant) : meant, order })}
            />
          </div>
          {meant.length === 0 ? <Empty title="No matches" /> : <Letters items={meant} onOrder={ask} />}
        </>
      )}
      {asked === undefined ? null : <Question letter={asked.letter} onClose={() => ask(undefined)} />}
      {askedAll === undefined ? null : <AskAll {...askedAll} onClose={() => askAll(undefined)} />}
    </Section>
  )
}
