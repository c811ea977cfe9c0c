// Profiles: what it knows of someone, each line with what it was made of.
// P1  An attribute stands beside its evidence, and beside the words that stood there before.

import { defined } from "../../api/defined.ts"
import type { Answer } from "../../api/contract.ts"
import { count, many } from "../../parts/format.ts"
import { Export } from "../../parts/export/export.tsx"
import { Section } from "../../parts/page.tsx"
import { Empty } from "../../parts/states.tsx"
import { Visible } from "../../parts/text.tsx"
import { absolute, Ago } from "../../parts/time.tsx"
import { AddAttribute, EditAttribute, Removed } from "./edit-profile.tsx"
import { From, type ListProps, Trust } from "./facts.tsx"
import { Paged, usePaged } from "./paged.tsx"

const PROFILES = "GET /v1/assistants/:id/memory/profiles"
type Profile = Answer<typeof PROFILES>["items"][number]
type Attribute = Profile["attributes"][number]
type Observation = Profile["observations"][number]

const Evidence = ({ of, profile }: { readonly of: ReadonlyArray<string>; readonly profile: Profile }) => {
  const heard = of.map((id) => ({ id, observation: profile.observations.find((each) => each.id === id) }))
  return (
    <details>
      <summary className="text-ink-2">made of {many(of.length, "observation")}</summary>
      <ul className="space-y-0.5 py-1 pl-4 text-ink-2">
        {heard.map(({ id, observation }) => (
          <li key={id} data-evidence={id}>
            {observation === undefined ? (
              <>
                <code>
                  <Visible text={id} />
                </code>
                , no longer kept
              </>
            ) : (
              <>
                <Visible text={observation.text} /> (<From origin={observation.origin} />, {absolute(observation.at)})
              </>
            )}
          </li>
        ))}
      </ul>
    </details>
  )
}

interface LineProps {
  readonly attribute: Attribute
  readonly assistant: string
  readonly profile: Profile
}

const AttributeLine = ({ assistant, attribute, profile }: LineProps) => {
  const { at, evidence, id, superseded, text, trust } = attribute
  return (
    <li className="px-3 py-2" data-attribute={id}>
      <div className="flex items-baseline justify-between gap-3">
        <span className="min-w-0 break-words font-medium">
          <Visible text={text} />
        </span>
        <span className="flex gap-3 whitespace-nowrap text-ink-2">
          <span>
            trust <Trust of={trust} />
          </span>
          <Ago at={at} />
        </span>
      </div>
      {superseded.map((before, n) => (
        <p
          key={n}
          className="text-ink-2 line-through"
          title={`until ${absolute(at)}; learnt ${absolute(before.at)}`}
          data-superseded=""
        >
          <Visible text={before.text} />
        </p>
      ))}
      <Evidence of={evidence} profile={profile} />
      <EditAttribute key={`${text} ${attribute.by ?? ""}`} attribute={attribute} id={assistant} entity={profile.id} />
    </li>
  )
}

const ObservationLine = ({ observation }: { readonly observation: Observation }) => {
  const { at, digested, id, origin, source, text, trust } = observation
  return (
    <li className="px-3 py-1.5" data-observation={id} data-digested={digested}>
      <span className="break-words">
        <Visible text={text} />
      </span>
      <span className="flex flex-wrap gap-x-3 text-ink-2">
        <From origin={origin} />
        <span>
          trust <Trust of={trust} />
        </span>
        <code>
          <Visible text={source} />
        </code>
        <Ago at={at} />
        {digested ? null : <span>not summarized yet</span>}
      </span>
    </li>
  )
}

const Opened = ({ assistant, profile }: { readonly assistant: string; readonly profile: Profile }) => {
  const { aliases, attributes, name, observations, relationship, removed = [], type } = profile
  const { first_at: firstAt, interactions, last_at: lastAt, strength, tier } = relationship
  return (
    <div className="grid min-w-0 content-start gap-4">
      <Section title="Profile" side={<span className="label">{type}</span>}>
        <dl className="pairs p-3">
          <dt>Name</dt>
          <dd className="font-semibold">
            <Visible text={name} />
          </dd>
          <dt>Relation</dt>
          <dd data-tier={tier}>
            {tier}, strength {strength.toFixed(2)}, {many(interactions, "contact")} from {absolute(firstAt)} to{" "}
            {absolute(lastAt)}
          </dd>
          {aliases.length === 0 ? null : (
            <>
              <dt>Also called</dt>
              <dd>
                <Visible text={aliases.join(", ")} />
              </dd>
            </>
          )}
        </dl>
      </Section>
      <Section title="Summary" side={<span className="label tabular">{count(attributes.length)}</span>}>
        {attributes.length === 0 ? (
          <p className="p-3 text-ink-2">None yet: a dream writes it.</p>
        ) : (
          <ul className="divide-y divide-line">
            {attributes.map((attribute) => (
              <AttributeLine key={attribute.id} attribute={attribute} assistant={assistant} profile={profile} />
            ))}
          </ul>
        )}
        <AddAttribute id={assistant} entity={profile.id} />
      </Section>
      <Removed removed={removed} id={assistant} entity={profile.id} />
      <Section title="Observations" side={<span className="label tabular">{count(observations.length)}</span>}>
        <ul className="divide-y divide-line">
          {observations.toReversed().map((observation) => (
            <ObservationLine key={observation.id} observation={observation} />
          ))}
        </ul>
      </Section>
    </div>
  )
}

const Name = ({ isOpen, onOpen, profile }: { profile: Profile; isOpen: boolean; onOpen: () => void }) => (
  <li className="memory-item" data-profile={profile.id} {...(isOpen ? { "data-open": "" } : {})}>
    <button type="button" className="block w-full px-3 py-1.5 text-left" aria-pressed={isOpen} onClick={onOpen}>
      <span className="block font-semibold wrap-anywhere" data-name="">
        <Visible text={profile.name} />
      </span>
      <span className="text-ink-2">
        {profile.type}, {profile.relationship.tier}, {many(profile.attributes.length, "attribute")}
      </span>
    </button>
  </li>
)

export const Profiles = ({ id, onChange, search: { open } }: ListProps) => {
  const profiles = usePaged(PROFILES, (cursor) => ({
    params: { id },
    query: { limit: 50, ...defined({ cursor }) }
  }))
  const shown = profiles.items?.find((profile) => profile.id === open) ?? profiles.items?.[0]
  return (
    <div className="grid min-w-0 items-start gap-4 lg:grid-cols-[19rem_minmax(0,1fr)]">
      <Section
        title="Entities"
        className={shown === undefined ? "lg:col-span-2" : ""}
        side={<Export name={`entities of ${id}`} route={PROFILES} asked={{ params: { id } }} />}
      >
        <Paged
          of={profiles}
          empty={
            <Empty title="No profiles yet">
              A dream makes a profile of each who is named in facts and conversations.
            </Empty>
          }
        >
          {(items) => (
            <ul data-profiles={items.length}>
              {items.map((profile) => (
                <Name
                  key={profile.id}
                  profile={profile}
                  isOpen={profile.id === shown?.id}
                  onOpen={() => onChange({ open: profile.id })}
                />
              ))}
            </ul>
          )}
        </Paged>
      </Section>
      {shown === undefined ? null : <Opened key={shown.id} assistant={id} profile={shown} />}
    </div>
  )
}
