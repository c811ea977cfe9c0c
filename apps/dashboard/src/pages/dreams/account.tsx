// Account: what one night learnt, linked, changed and forgot, each with links to its sources, and undoing it.
// A1  Taking an item or a night back asks first, and takes a reason. What waits for a person is accepted with one click.

import { Link } from "@tanstack/react-router"
import { type ReactNode, useState } from "react"
import type { Answer } from "../../api/contract.ts"
import { defined } from "../../api/defined.ts"
import { useChange } from "../../api/questions.ts"
import { Action } from "../../parts/action.tsx"
import { Chip } from "../../parts/chip.tsx"
import { ConfirmLater } from "../../parts/dialogs/confirm-later.tsx"
import { count, percent } from "../../parts/format.ts"
import { Visible } from "../../parts/text.tsx"

export const ACCOUNT = "GET /v1/assistants/:id/dreams/:dream"
type Account = Answer<typeof ACCOUNT>
type Source = Account["learnt"][number]["sources"][number]
type Item = Pick<Account["learnt"][number], "item" | "undone" | "waits">

interface TakeBackProps {
  readonly id: string
  readonly dream: string
  /** All of the night when not said. */
  readonly of?: Item
  readonly title: string
  readonly children: ReactNode
}

/** Asked for first, and done as soon as the assistant is at rest. */
const TakeBack = ({ children, dream, id, of, title }: TakeBackProps) => {
  const [asks, ask] = useState(false)
  const { isSuccess, mutateAsync } = useChange("POST /v1/assistants/:id/dreams/:dream/undo")
  const name = of?.item ?? dream
  if (of?.undone === true) return <Chip tone="retired" text="undone" />
  if (isSuccess)
    return (
      <p className="text-ink-2" role="status" data-undone={name}>
        Undone as soon as the assistant is at rest.
      </p>
    )
  return (
    <>
      <Action className="button button-small" onClick={() => ask(true)} data-undo={name}>
        {title}
      </Action>
      {asks ? (
        <ConfirmLater
          title={`${title}?`}
          verb="Undo"
          asksReason
          onClose={() => ask(false)}
          onConfirm={(reason) =>
            mutateAsync({
              params: { id, dream },
              payload: defined({ reason, items: of === undefined ? undefined : [of.item] })
            })
          }
        >
          {children}
        </ConfirmLater>
      ) : null}
    </>
  )
}

/** Where something came from: each leads to the tick that it stands in, or to the fact. */
const Sources = ({ id, of }: { readonly id: string; readonly of: ReadonlyArray<Source> }) => (
  <span className="inline-flex flex-wrap gap-1">
    {of.map(({ id: source, text: said, tick }) => {
      const title = said === undefined ? {} : { title: said }
      if (source.startsWith("f/"))
        return (
          <Link key={source} to="/a/$id/memory" params={{ id }} search={{ tab: "facts", open: source.slice(2) }}>
            <code data-source={source}>
              <Visible text={source} />
            </code>
          </Link>
        )
      const name = (
        <code className="rounded border border-line px-1" data-source={source} {...title}>
          <Visible text={source} />
        </code>
      )
      return tick === undefined ? (
        <span key={source}>{name}</span>
      ) : (
        <Link key={source} to="/a/$id/timeline" params={{ id }} search={{ tick }}>
          {name}
        </Link>
      )
    })}
  </span>
)

const Group = ({ children, name }: { readonly name: string; readonly children: ReadonlyArray<ReactNode> }) =>
  children.length === 0 ? null : (
    <section data-group={name}>
      <h3 className="label">
        {name} ({count(children.length)})
      </h3>
      <ul className="space-y-1">{children}</ul>
    </section>
  )

const Fact = ({ fact, id }: { readonly id: string; readonly fact: string }) => (
  <Link to="/a/$id/memory" params={{ id }} search={{ tab: "facts", open: fact }} data-fact-link={fact}>
    <code>
      <Visible text={fact} />
    </code>
  </Link>
)

/** What waits is done as soon as the assistant is at rest. */
const Accept = ({
  dream,
  id,
  items,
  title
}: OfNight & { readonly items: ReadonlyArray<string>; readonly title: string }) => {
  const { isPending, isSuccess, mutate } = useChange("POST /v1/assistants/:id/dreams/:dream/accept")
  return isSuccess ? (
    <span className="text-ink-2" role="status" data-accepted={dream}>
      Accepted as soon as the assistant is at rest.
    </span>
  ) : (
    <Action
      className="button button-small button-primary"
      disabled={isPending}
      onClick={() => mutate({ params: { id, dream }, payload: { items } })}
      data-accept={items.length === 1 ? items[0] : dream}
    >
      {title}
    </Action>
  )
}

interface OfNight {
  readonly id: string
  readonly dream: string
}

/** The button behind an item. */
const Back = ({ dream, id, of }: OfNight & { readonly of: Item }) => (
  <>
    {of.waits === true ? (
      <>
        <Chip tone="waiting" text="waits for you" />{" "}
        <Accept dream={dream} id={id} items={[of.item]} title="Accept" />{" "}
      </>
    ) : null}
    <TakeBack id={id} dream={dream} of={of} title={of.waits === true ? "Decline" : "Undo"}>
      This alone is as it was before that dream run: <code>{of.item}</code>
    </TakeBack>
  </>
)

const Learnt = ({ dream, id, of }: OfNight & { readonly of: Account["learnt"][number] }) => {
  const { fact, reason, sources, state, text: said, trust } = of
  return (
    <li data-learnt={fact} data-state={state} className="break-words">
      <span className={state === "retired" ? "text-ink-2 line-through" : ""}>
        <Visible text={said} />
      </span>{" "}
      <span className="text-ink-2">
        <Fact id={id} fact={fact} /> confidence {percent(trust)} <Sources id={id} of={sources} />{" "}
        {state === "active" ? null : <Chip tone="retired" text={state} />}{" "}
        {reason === undefined ? null : <Visible text={reason} />}
      </span>{" "}
      {state === "retired" ? null : <Back dream={dream} id={id} of={of} />}
    </li>
  )
}

const turned = { superseded: "replaced", confirmed: "said again", profile: "profile" } as const

export const Items = ({ account, id }: { readonly id: string; readonly account: Account }) => (
  <div className="space-y-3">
    <Group name="Learnt">
      {account.learnt.map((each) => (
        <Learnt key={each.fact} dream={account.id} id={id} of={each} />
      ))}
    </Group>
    <Group name="Linked">
      {account.linked.map(({ from, fromText, item, to, toText, undone, why }) => (
        <li key={item} className="break-words">
          <Fact id={id} fact={from} /> <Visible text={fromText} /> <span className="text-ink-2">and</span>{" "}
          <Fact id={id} fact={to} /> <Visible text={toText} />{" "}
          <span className="text-ink-2">
            (<Visible text={why} />)
          </span>{" "}
          <Back dream={account.id} id={id} of={{ item, ...defined({ undone }) }} />
        </li>
      ))}
    </Group>
    <Group name="Changed">
      {account.changed.map(({ after, before, id: of, item, name, sources, undone, what: how }) => (
        <li key={`${how} ${of}`} data-changed={of} className="break-words">
          <span className="text-ink-2">{turned[how]}</span> <Visible text={name ?? of} />:{" "}
          <del className="text-ink-2">
            <Visible text={how === "confirmed" ? "" : before.filter((each) => !after.includes(each)).join("; ")} />
          </del>{" "}
          <Visible text={(how === "confirmed" ? after : after.filter((each) => !before.includes(each))).join("; ")} />{" "}
          <Sources id={id} of={sources} /> <Back dream={account.id} id={id} of={{ item, ...defined({ undone }) }} />
        </li>
      ))}
    </Group>
    <Group name="Forgotten">
      {account.forgotten.map(({ id: of, item, reason, sources, text: said, undone, waits }) => (
        <li key={of} data-forgotten={of} className="break-words">
          <Visible text={said} />{" "}
          <span className="text-ink-2">
            (<Visible text={reason} />) <Sources id={id} of={sources} />
          </span>{" "}
          <Back dream={account.id} id={id} of={{ item, ...defined({ undone, waits }) }} />
        </li>
      ))}
    </Group>
  </div>
)

/** The buttons of a night. */
export const UndoNight = ({ account, id }: { readonly id: string; readonly account: Account }) => {
  if (account.isQuiet || account.undoneAt !== undefined) return null
  const waiting = [...account.learnt, ...account.forgotten].flatMap(({ item, waits }) => (waits === true ? [item] : []))
  return (
    <>
      {waiting.length === 0 ? null : (
        <Accept dream={account.id} id={id} items={waiting} title={`Accept ${waiting.length} waiting`} />
      )}
      <TakeBack id={id} dream={account.id} title="Undo this dream">
        The memory is as it was before that dream run: what it learnt is retired, and not learnt again from where it was
        learnt; what it linked, replaced, confirmed and put away is as before. What came since stays.
      </TakeBack>
    </>
  )
}
