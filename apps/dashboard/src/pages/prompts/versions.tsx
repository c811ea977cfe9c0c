// Versions: what was written of a template of the prompt registry, the newest first, each to be loaded again.

import { useAnswer } from "../../api/questions.ts"
import { Answered, Empty } from "../../parts/states.tsx"
import { Ago } from "../../parts/time.tsx"

const contentIn = (definition: unknown): string | undefined => {
  if (typeof definition !== "object" || definition === null) return undefined
  const content: unknown = Reflect.get(definition, "content")
  return typeof content === "string" ? content : undefined
}

interface VersionsProps {
  readonly promptKey: string
  readonly onLoad: (text: string) => void
}

export const PromptVersions = ({ onLoad, promptKey }: VersionsProps) => {
  const past = useAnswer("GET /v1/prompts/:key/history", { params: { key: promptKey } })
  return (
    <Answered of={past} lines={3}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="It was never changed">What is written here is kept as a version.</Empty>
        ) : (
          <ul data-prompt-versions={items.length}>
            {items.map(({ at, change, definition, restores, version }) => {
              const content = contentIn(definition)
              return (
                <li key={version} className="strip-line flex-wrap" data-version={version}>
                  <span className="tabular">version {version}</span>
                  <span className="flex-1 text-ink-2">
                    {change}
                    {restores === undefined ? "" : `, as version ${restores} was`} <Ago at={at} />
                  </span>
                  {content === undefined ? null : (
                    <button
                      type="button"
                      className="button button-small"
                      onClick={() => onLoad(content)}
                      aria-label={`Load version ${version}`}
                    >
                      Load
                    </button>
                  )}
                </li>
              )
            })}
          </ul>
        )
      }
    </Answered>
  )
}
