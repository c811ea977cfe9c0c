// Facts: what it knows, from where, how far it is believed, and what took its place.
// M2  Nothing is hidden: what was superseded, retired or held back stands here too, with the reason.

import { Fragment, type ReactNode, useState } from "react"
import { defined } from "../../api/defined.ts"
import type { Answer } from "../../api/contract.ts"
import { useChange } from "../../api/questions.ts"
import { Action } from "../../parts/action.tsx"
import { Chip, type Tone } from "../../parts/chip.tsx"
import { ConfirmLater } from "../../parts/dialogs/confirm-later.tsx"
import { Export } from "../../parts/export/export.tsx"
import { Section } from "../../parts/page.tsx"
import { SearchField } from "../../parts/search-field.tsx"
import { Empty } from "../../parts/states.tsx"
import { Visible } from "../../parts/text.tsx"
import { absolute, Ago } from "../../parts/time.tsx"
import { AddFact, Correct } from "./write-fact.tsx"
import { Paged, usePaged } from "./paged.tsx"
import { factStates, type MemorySearch } from "./search.ts"
import { percent } from "../../parts/format.ts"

// Belief: how far something is trusted, and from whom it is.

const LOW_TRUST = 0.4

export const Trust = ({ of }: { readonly of: number }) => (
  <span
    className={`tabular ${of < LOW_TRUST ? "font-medium text-warn" : "text-ink-2"}`}
    title="Confidence"
    data-trust={of}
  >
    {percent(of)}
  </span>
)

const words: Readonly<Record<string, string>> = {
  person: "said by",
  assistant: "told by assistant",
  tool: "from tool",
  ambientMessages: "overheard from",
  self: "inferred"
}

export const From = ({ origin }: { readonly origin: { readonly type: string; readonly name: string } }) => (
  <span data-origin={origin.type}>
    {words[origin.type] ?? origin.type}
    {origin.type === "self" ? null : (
      <>
        {" "}
        <Visible text={origin.name} />
      </>
    )}
  </span>
)

/** Where something stands: an entry such as `m/12.0`. */
export const Entries = ({ of }: { readonly of: ReadonlyArray<string> }) => (
  <span className="inline-flex flex-wrap gap-1">
    {of.map((entry) => (
      <code key={entry} className="rounded border border-line px-1" data-source={entry}>
        <Visible text={entry} />
      </code>
    ))}
  </span>
)

const FACTS = "GET /v1/assistants/:id/memory/facts"
type Fact = Answer<typeof FACTS>["items"][number]

const tones: Readonly<Record<Fact["state"], Tone>> = {
  active: "good",
  superseded: "retired",
  retired: "retired",
  quarantined: "waiting",
  proposed: "waiting"
}

export interface ListProps {
  readonly id: string
  readonly search: MemorySearch
  readonly onChange: (next: MemorySearch) => void
}

const FactLink = ({ onOpen, to }: { readonly to: string; readonly onOpen: (id: string) => void }) => (
  <button
    type="button"
    className="font-mono text-[0.857rem] text-accent hover:underline"
    onClick={() => onOpen(to)}
    data-fact-link={to}
  >
    <Visible text={to} />
  </button>
)

const Links = ({ links, onOpen }: { readonly links: Fact["links"]; readonly onOpen: (id: string) => void }) =>
  links.map(({ to, why }) => (
    <span key={to} className="mr-3 inline-block">
      <FactLink to={to} onOpen={onOpen} />{" "}
      <span className="text-ink-2">
        <Visible text={why} />
      </span>
    </span>
  ))

const pairsOf = (fact: Fact, onOpen: (id: string) => void): ReadonlyArray<readonly [string, ReactNode]> => {
  const {
    at,
    entities,
    id,
    importance,
    learnt_at: learntAt,
    links,
    origin,
    reason,
    sources,
    superseded_by: by,
    until
  } = fact
  const provenance = (
    <>
      <From origin={origin} />, {absolute(at)} <Entries of={sources} />
    </>
  )
  return [
    ["Provenance", provenance],
    ...(until === undefined ? [] : [["Held", `${absolute(at)} to ${absolute(until)}`] as const]),
    ["Learnt", `${absolute(learntAt)}, importance ${importance.toFixed(1)}`],
    ...(reason === undefined ? [] : [["Why not used", <Visible key="reason" text={reason} />] as const]),
    ...(by === undefined ? [] : [["Superseded by", <FactLink key="by" to={by} onOpen={onOpen} />] as const]),
    ...(links.length === 0 ? [] : [["Links", <Links key="links" links={links} onOpen={onOpen} />] as const]),
    ...(entities.length === 0 ? [] : [["About", <Visible key="about" text={entities.join(", ")} />] as const]),
    [
      "Id",
      <code key="id">
        <Visible text={id} />
      </code>
    ]
  ]
}

/** Asked for first: what was held back may have been meant to mislead. */
const Release = ({ fact, id }: { readonly fact: Fact; readonly id: string }) => {
  const [asks, ask] = useState(false)
  const { isSuccess, mutateAsync } = useChange("POST /v1/assistants/:id/memory/facts/:fact/release")
  return (
    <>
      {isSuccess ? (
        <p className="text-ink-2" role="status" data-released={fact.id}>
          Released: it is used as soon as the assistant is at rest.
        </p>
      ) : (
        <Action className="button button-small" onClick={() => ask(true)} data-release={fact.id}>
          {fact.state === "proposed" ? "Accept" : "Release from quarantine"}
        </Action>
      )}
      {asks ? (
        <ConfirmLater
          title={fact.state === "proposed" ? "Accept this fact?" : "Release it from quarantine?"}
          verb={fact.state === "proposed" ? "Accept" : "Release"}
          onClose={() => ask(false)}
          onConfirm={() => mutateAsync({ params: { id, fact: fact.id } })}
        >
          From then on it is found, dreamt of and shown to the model like any other fact. Read it first:{" "}
          <Visible text={fact.text} />
        </ConfirmLater>
      ) : null}
    </>
  )
}

/** Asked for first: it is retired for good. */
const RetireFact = ({ fact, id }: { readonly fact: Pick<Fact, "id" | "text">; readonly id: string }) => {
  const [asks, ask] = useState(false)
  const { isSuccess, mutateAsync } = useChange("POST /v1/assistants/:id/memory/facts/:fact/retire")
  return (
    <>
      {isSuccess ? (
        <p className="text-ink-2" role="status" data-retired={fact.id}>
          Retired: it is used no more as soon as the assistant is at rest.
        </p>
      ) : (
        <Action className="button button-small" onClick={() => ask(true)} data-retire={fact.id}>
          Retire
        </Action>
      )}
      {asks ? (
        <ConfirmLater
          title="Retire this fact?"
          verb="Retire"
          asksReason
          onClose={() => ask(false)}
          onConfirm={(reason) => mutateAsync({ params: { id, fact: fact.id }, payload: defined({ reason }) })}
        >
          It is found no more, and not learnt again from where it was learnt; a fact whose place it took holds again:{" "}
          <Visible text={fact.text} />
        </ConfirmLater>
      ) : null}
    </>
  )
}

/** What a person may say of it: correct is offered where no other fact stands in its place. */
const Actions = ({ fact, id, isOpen }: { readonly fact: Fact; readonly id: string; readonly isOpen: boolean }) => {
  const [writes, write] = useState(false)
  const { state } = fact
  const isHeld = state === "quarantined" || state === "proposed"
  const releases = state === "proposed" || (isOpen && state === "quarantined")
  if (!releases && (!isOpen || state === "retired")) return null
  return (
    <div className="flex flex-wrap items-center gap-2 px-3 py-2">
      {releases ? <Release fact={fact} id={id} /> : null}
      {isOpen && (isHeld || state === "active") ? <Correct fact={fact} id={id} isOpen={writes} open={write} /> : null}
      {isOpen && !writes ? <RetireFact fact={fact} id={id} /> : null}
    </div>
  )
}

const Detail = ({ fact, onOpen }: { readonly fact: Fact; readonly onOpen: (id: string) => void }) => (
  <dl className="pairs memory-detail" data-fact-detail={fact.id}>
    {pairsOf(fact, onOpen).map(([title, value]) => (
      <Fragment key={title}>
        <dt>{title}</dt>
        <dd data-pair={title}>{value}</dd>
      </Fragment>
    ))}
  </dl>
)

interface LineProps {
  readonly id: string
  readonly fact: Fact
  readonly isOpen: boolean
  readonly onOpen: (id: string | undefined) => void
}

const Line = ({ fact, id, isOpen, onOpen }: LineProps) => (
  <li data-fact={fact.id} data-state={fact.state} {...(isOpen ? { "data-open": "" } : {})} className="memory-item">
    <button
      type="button"
      className="memory-line"
      aria-expanded={isOpen}
      onClick={() => onOpen(isOpen ? undefined : fact.id)}
    >
      <span
        className={`min-w-0 break-words ${fact.state === "superseded" || fact.state === "retired" ? "text-ink-2 line-through" : ""}`}
      >
        <Visible text={fact.text} />
      </span>
      <Chip tone={tones[fact.state]} text={fact.state} />
      <span className="min-w-0 text-ink-2 wrap-anywhere max-md:hidden" data-from="">
        <From origin={fact.origin} />
      </span>
      <Trust of={fact.trust} />
      <span className="text-right text-ink-2 max-md:hidden">
        <Ago at={fact.at} />
      </span>
    </button>
    {isOpen ? <Detail fact={fact} onOpen={onOpen} /> : null}
    <Actions fact={fact} id={id} isOpen={isOpen} />
  </li>
)

const None = ({ q, state }: MemorySearch) => {
  if (state === "quarantined" && q === undefined)
    return (
      <Empty title="None quarantined">
        What looks like an instruction in disguise, or contradicts what is believed more, would wait here.
      </Empty>
    )
  if (state !== undefined || q !== undefined)
    return <Empty title="No matches">Look for other words, or another state.</Empty>
  return <Empty title="It knows no facts yet">Facts come out of journal and conversation, in dreams.</Empty>
}

const State = ({
  onChange,
  state,
  waiting
}: {
  state: MemorySearch["state"]
  waiting: Waiting
  onChange: ListProps["onChange"]
}) => (
  <div className="segmented" role="group" aria-label="State of facts">
    {[undefined, ...factStates].map((each) => (
      <button
        key={each ?? "all"}
        type="button"
        aria-pressed={each === state}
        onClick={() => onChange({ state: each, open: undefined })}
        data-state-filter={each ?? "all"}
      >
        {each ?? "all"}
        {(each === "quarantined" || each === "proposed") && waiting[each] > 0 ? (
          <span className="badge ml-1.5">{waiting[each]}</span>
        ) : null}
      </button>
    ))}
  </div>
)

/** How many wait for a person. */
interface Waiting {
  readonly quarantined: number
  readonly proposed: number
}

/** What stands in which column. */
const Heads = () => (
  <div className="memory-line memory-heads" data-columns="facts">
    <span>Fact</span>
    <span>State</span>
    <span className="max-md:hidden">Source</span>
    <span className="text-right" title="How far it is trusted">
      Trust
    </span>
    <span className="text-right max-md:hidden">Said</span>
  </div>
)

export const Facts = ({ id, onChange, search, waiting }: ListProps & { readonly waiting: Waiting }) => {
  const { open, q, state } = search
  const facts = usePaged(FACTS, (cursor) => ({
    params: { id },
    query: {
      limit: 100,
      ...defined({ state, q: q === undefined ? undefined : q.slice(0, 200), cursor })
    }
  }))
  const isMissing = open !== undefined && facts.items !== undefined && !facts.items.some((fact) => fact.id === open)
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <State state={state} waiting={waiting} onChange={onChange} />
        <SearchField label="Search facts" value={q} onSearch={(words) => onChange({ q: words })} />
        <Export
          name={`facts of ${id}`}
          route={FACTS}
          asked={{ params: { id }, query: defined({ state, q: q?.slice(0, 200) }) }}
        />
        <AddFact id={id} />
      </div>
      {isMissing ? (
        <p className="notice" data-tone="waiting" data-fact-missing={open}>
          <span>
            The fact{" "}
            <code>
              <Visible text={open} />
            </code>{" "}
            is not among those below: it has another state, or lies further back.
          </span>
        </p>
      ) : null}
      <Section title={state === undefined ? "Facts" : `Facts that are ${state}`}>
        <Paged of={facts} empty={<None q={q} state={state} />}>
          {(items) => (
            <>
              <Heads />
              <ul data-facts={items.length}>
                {items.map((fact) => (
                  <Line
                    key={fact.id}
                    id={id}
                    fact={fact}
                    isOpen={fact.id === open}
                    onOpen={(next) => onChange({ open: next })}
                  />
                ))}
              </ul>
            </>
          )}
        </Paged>
      </Section>
    </>
  )
}
