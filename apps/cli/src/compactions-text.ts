// CompactionsText: compactions of a history for people.
// Owns the words of the list and of one compaction beside what it replaced. Leaves finding them to the command.
// X1  Every message that was compacted is one line, with its place, so that it can be found again.

import type { Compaction, PlacedMessage } from "reverie"
import { onOneLine, plain } from "./plain.ts"
import { counted, percent, table } from "./table.ts"

const when = (at: number): string => `${new Date(at).toISOString().slice(0, 16)}Z`

/** current: what the model is shown begins with its marker. compacted over: a later one has taken it in. */
const stateOf = ({ id, undone_at }: Compaction, current: string | undefined): string =>
  undone_at === undefined ? (id === current ? "current" : "compacted over") : "undone"

export const compactionsText = (
  whose: string,
  compactions: ReadonlyArray<Compaction>,
  current: string | undefined
): string => {
  if (compactions.length === 0) return `nothing of ${whose}'s history has been compacted`
  const rows = compactions.map((each) => [
    each.id,
    when(each.at),
    each.trigger,
    String(each.compacted_count),
    String(each.preserved_count),
    String(each.before.tokens),
    String(each.after.tokens),
    stateOf(each, current)
  ])
  return table([["compaction", "when", "trigger", "compacted", "kept", "tokens before", "after", "state"], ...rows])
}

const lineOf = ({ message, place }: PlacedMessage): string => {
  const { at, calls = [], content, name, role } = message
  const asked = calls.map(({ arguments: args, tool }) => `${tool} ${JSON.stringify(args)}`).join(", ")
  const said = `${name ?? role}: ${content}${asked === "" ? "" : ` [${asked}]`}`
  return `  m/${place.no}/${place.index}  ${when(at)}  ${onOneLine(said)}`
}

/** Before and after, one below the other. */
export const compactionText = (
  whose: string,
  compaction: Compaction,
  replaced: ReadonlyArray<PlacedMessage>,
  current: string | undefined
): string => {
  const { after, before, extraction, id, marker, model, pieces, ratio, strategy, threshold, trigger } = compaction
  const atLeast = trigger === "order" ? "" : ` (threshold ${percent(threshold)})`
  return [
    `${whose}: ${id}, ${when(compaction.at)}, ${stateOf(compaction, current)}`,
    `${trigger}, at ${percent(ratio)} of the window${atLeast}, ${strategy}` +
      (pieces === 0 ? "" : ` in ${counted(pieces, "call")}${model === null ? "" : ` of ${onOneLine(model)}`}`),
    `${counted(before.messages, "message")} of ${before.tokens} tokens → ` +
      `${counted(after.messages, "message")} of ${after.tokens} tokens`,
    ...(extraction === null
      ? []
      : [
          `before it: ${counted(extraction.facts_recorded, "fact")} and ` +
            `${counted(extraction.observations_recorded, "observation")} saved in ` +
            `${counted(extraction.iterations, "round")} (${extraction.ended_by ?? "not ended"})`
        ]),
    "",
    "what the model is shown",
    ...plain(marker.content)
      .split("\n")
      .map((line) => `  ${line}`),
    "",
    `what it replaced (${counted(replaced.length, "message")})`,
    ...(before.start === null ? [] : [`  the marker of ${before.start.compaction}`]),
    ...replaced.map(lineOf)
  ].join("\n")
}
