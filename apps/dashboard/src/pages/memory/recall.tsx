// Recall: asking its memory what its model would be shown, and why each of them was found.

import { defined } from "../../api/defined.ts"
import type { Answer } from "../../api/contract.ts"
import { useAnswer } from "../../api/questions.ts"
import { Section } from "../../parts/page.tsx"
import { Answered, Empty } from "../../parts/states.tsx"
import { Visible } from "../../parts/text.tsx"
import { Ago } from "../../parts/time.tsx"
import { StackTable } from "../../parts/structured/stack-table.tsx"
import { type ListProps, Trust } from "./facts.tsx"
import { type MemorySearch, recallModes, recallScopes } from "./search.ts"

const RECALL = "GET /v1/assistants/:id/memory/recall"
type Hit = Answer<typeof RECALL>["items"][number]

interface Ranked {
  readonly rank?: unknown
  readonly score?: unknown
}

const rankIn = (why: Hit["why"], search: "lexical" | "vector"): Ranked | undefined => {
  const found: unknown = typeof why === "object" && why !== null ? Reflect.get(why, search) : undefined
  return typeof found === "object" && found !== null ? found : undefined
}

const wordsIn = (why: Hit["why"], field: "terms" | "boosts" | "facts"): ReadonlyArray<string> => {
  const found: unknown = typeof why === "object" && why !== null ? Reflect.get(why, field) : undefined
  return Array.isArray(found) ? found.filter((each): each is string => typeof each === "string") : []
}

const Score = ({ of }: { readonly of: Ranked | undefined }) =>
  of === undefined || typeof of.score !== "number" ? (
    <span className="text-ink-3">–</span>
  ) : (
    <>
      {of.score.toFixed(3)}
      {typeof of.rank === "number" ? <span className="block text-ink-2">place {of.rank}</span> : null}
    </>
  )

/** What a passage was put away with. */
const metadataText = (metadata: NonNullable<Hit["metadata"]>): string =>
  Object.entries(metadata)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ")

const HitRow = ({ hit, isOwn }: { readonly hit: Hit; readonly isOwn: boolean }) => {
  const { at, because, id, kind, metadata, owner, score, text, trust, why } = hit
  const facts = wordsIn(why, "facts")
  return (
    <tr data-hit={id} data-score={score}>
      <td className="max-w-2xl">
        <span className="break-words">
          <Visible text={text} />
        </span>
        <span className="block text-ink-2">
          {kind}{" "}
          <code>
            <Visible text={id} />
          </code>
          {isOwn ? null : (
            <>
              {" "}
              of <Visible text={owner} />
            </>
          )}
          {", "}
          <Ago at={at} />
        </span>
        {metadata === undefined ? null : (
          <span className="block text-ink-2" data-metadata="">
            <Visible text={metadataText(metadata)} />
          </span>
        )}
      </td>
      <td className="text-ink-2" data-why="">
        <Visible text={because === "" ? "–" : because} />
        {facts.length === 0 ? null : (
          <span className="block">
            facts <Visible text={facts.join(", ")} />
          </span>
        )}
      </td>
      <td data-align="end" data-lexical="">
        <Score of={rankIn(why, "lexical")} />
      </td>
      <td data-align="end" data-vector="">
        <Score of={rankIn(why, "vector")} />
      </td>
      <td data-align="end" className="font-medium">
        {score.toFixed(3)}
      </td>
      <td data-align="end">{trust === undefined ? "–" : <Trust of={trust} />}</td>
    </tr>
  )
}

const Hits = ({ id, items }: { readonly id: string; readonly items: ReadonlyArray<Hit> }) => (
  <StackTable data-hits={items.length}>
    <thead>
      <tr>
        <th scope="col">Memory</th>
        <th scope="col">Why it was found</th>
        {["Words", "Meaning", "Score", "Trust"].map((title) => (
          <th key={title} scope="col" data-align="end">
            {title}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {items.map((hit) => (
        <HitRow key={`${hit.owner} ${hit.id}`} hit={hit} isOwn={hit.owner === id} />
      ))}
    </tbody>
  </StackTable>
)

const Select = ({
  all,
  label,
  name,
  value
}: {
  label: string
  name: string
  value: string
  all: ReadonlyArray<readonly [string, string]>
}) => (
  <label className="flex items-center gap-2 text-ink-2">
    {label}
    <select className="field" name={name} defaultValue={value} key={value}>
      {all.map(([each, said]) => (
        <option key={each} value={each}>
          {said}
        </option>
      ))}
    </select>
  </label>
)

const modeNames: Readonly<Record<string, string>> = {
  auto: "auto",
  fts: "words",
  vector: "meaning",
  hybrid: "both"
}
const scopeNames: Readonly<Record<string, string>> = { own: "own", shared: "and shared", fleet: "and the fleet's" }

const Question = ({ onChange, search }: Omit<ListProps, "id">) => {
  const { mode = "auto", q = "", scope = "own" } = search
  return (
    <form
      className="flex flex-wrap items-center gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        const form = new FormData(event.currentTarget)
        const words = form.get("q")
        const written = typeof words === "string" ? words.trim() : ""
        const next: MemorySearch = {
          q: written === "" ? undefined : written,
          mode: recallModes.find((each) => each === form.get("mode")),
          scope: recallScopes.find((each) => each === form.get("scope"))
        }
        onChange(next)
      }}
    >
      <input
        key={q}
        className="field min-w-64 flex-1"
        name="q"
        type="search"
        data-search=""
        aria-label="What is to be remembered"
        placeholder="What is to be remembered, in the words that were likely used"
        maxLength={2_000}
        defaultValue={q}
      />
      <Select label="by" name="mode" value={mode} all={recallModes.map((each) => [each, modeNames[each] ?? each])} />
      <Select
        label="in"
        name="scope"
        value={scope}
        all={recallScopes.map((each) => [each, scopeNames[each] ?? each])}
      />
      <button type="submit" className="button button-primary" data-recall="">
        Recall
      </button>
    </form>
  )
}

export const Recall = ({ id, onChange, search }: ListProps) => {
  const { mode, q, scope } = search
  const hits = useAnswer(
    RECALL,
    {
      params: { id },
      query: {
        q: q ?? "",
        limit: 30,
        ...defined({ mode, scope })
      }
    },
    { enabled: q !== undefined }
  )
  return (
    <>
      <Question search={search} onChange={onChange} />
      <Section title="What it remembers" className="overflow-x-auto">
        {q === undefined ? (
          <Empty title="Ask its memory">
            What was said, its journal, facts and passages, ranked as its model would be shown them, with the reason.
          </Empty>
        ) : (
          <Answered of={hits} lines={8}>
            {({ degraded, items }) => (
              <>
                {degraded === undefined ? null : (
                  <p className="border-b border-line px-3 py-2 text-warn" data-degraded="">
                    <Visible text={degraded} />
                  </p>
                )}
                {items.length === 0 ? (
                  <Empty title="No memories found">Try the words that were likely used then.</Empty>
                ) : (
                  <Hits id={id} items={items} />
                )}
              </>
            )}
          </Answered>
        )}
      </Section>
    </>
  )
}
