// Belief: how far something is trusted, and from whom it is.

import { percent } from "../../parts/format.ts"
import { Visible } from "../../parts/text.tsx"

const LOW_TRUST = 0.4

export const Trust = ({ of }: { readonly of: number }) => (
  <span
    className={`tabular ${of < LOW_TRUST ? "font-medium text-warn" : "text-ink-2"}`}
    title="How far it is believed"
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
  self: "concluded by itself"
}

export const From = ({ origin }: { readonly origin: { readonly type: string; readonly name: string } }) => (
  <span data-origin={origin.type}>
    {words[origin.type] ?? origin.type} {origin.type === "self" ? null : <Visible text={origin.name} />}
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
