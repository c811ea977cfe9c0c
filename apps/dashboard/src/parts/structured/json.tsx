// Json: a value shown as JSON, its keys and kinds told apart by colour.
// V3  What is no JSON is shown as the text it is.

import { useMemo, useState } from "react"
import { TextView, Visible } from "../text.tsx"

const token = /("(?:\\.|[^"\\])*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)|([^"\d\-tfn]+|.)/gs
const MAX_LINES = 400

interface Part {
  readonly kind: "key" | "text" | "other" | "plain"
  readonly text: string
}

const partsOf = (line: string): ReadonlyArray<Part> =>
  [...line.matchAll(token)].flatMap(([all, quoted, colon, literal]): ReadonlyArray<Part> => {
    if (quoted !== undefined) {
      return colon === undefined
        ? [{ kind: "text", text: quoted }]
        : [
            { kind: "key", text: quoted },
            { kind: "plain", text: colon }
          ]
    }
    return [{ kind: literal === undefined ? "plain" : "other", text: all }]
  })

const Line = ({ line }: { readonly line: string }) =>
  partsOf(line).map(({ kind, text }, at) =>
    kind === "plain" ? (
      text
    ) : (
      <span key={at} className={`json-${kind}`}>
        <Visible text={text} />
      </span>
    )
  )

export const JsonView = ({ label, value }: { readonly value: unknown; readonly label?: string }) => {
  const [whole, open] = useState(false)
  const lines = useMemo(() => (JSON.stringify(value, null, 2) ?? "nothing").split("\n"), [value])
  const shown = whole ? lines : lines.slice(0, MAX_LINES)
  return (
    <div>
      <pre className="viewer max-h-[32rem]" tabIndex={0} role="region" aria-label={label ?? "JSON"}>
        {shown.map((line, at) => (
          <span key={at}>
            <Line line={line} />
            {"\n"}
          </span>
        ))}
      </pre>
      {shown.length < lines.length ? (
        <button type="button" className="button button-small mt-1.5" onClick={() => open(true)}>
          Show all {lines.length.toLocaleString("en")} lines
        </button>
      ) : null}
    </div>
  )
}

/** A text that should be JSON: the arguments of a call. */
export const JsonText = ({ label, text }: { readonly text: string; readonly label?: string }) => {
  const parsed = useMemo(() => {
    try {
      return { value: JSON.parse(text) as unknown }
    } catch {
      return undefined
    }
  }, [text])
  const named = label === undefined ? {} : { label }
  return parsed === undefined ? <TextView text={text} {...named} /> : <JsonView value={parsed.value} {...named} />
}
