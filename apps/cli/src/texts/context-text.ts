// ContextText: the report of a prompt, and the difference of two, for people.
// Owns their form. Leaves their content to the SDK.
// X1  Whatever the report knows is shown; what it does not know leaves no empty heading.

import type { ContextReport, Json, PartChange, ReportComparison } from "reverie"
import { onOneLine, bar, counted, percent, table } from "./plain.ts"

/** The size of the whole window, as far as the report tells it. */
const windowOf = ({ limit, share, tokens }: ContextReport): number => (share > 0 ? tokens / share : limit)

const placeOf = ({ iteration, tick }: ContextReport): string => `run ${tick}, model call ${iteration}`

const partTable = (report: ContextReport): string => {
  const share = (tokens: number) => (windowOf(report) > 0 ? tokens / windowOf(report) : 0)
  const row = (id: string, key: string, tokens: number, messages: string) => [
    id,
    onOneLine(key, 40),
    String(tokens),
    messages,
    percent(share(tokens)),
    bar(share(tokens))
  ]
  return table([
    ["id", "component", "tokens", "messages", "share", "of the window"],
    ...report.parts.map(({ id, key, messages, tokens }) => row(String(id), key, tokens, String(messages))),
    ...(report.toolTokens > 0 ? [row("", "offered tools", report.toolTokens, "")] : []),
    row("", "total", report.tokens, String(report.parts.reduce((sum, { messages }) => sum + messages, 0)))
  ])
}

const absenceLines = ({ absent, cuts, interrupted, leftOut }: ContextReport): ReadonlyArray<string> => [
  ...absent.map(({ key, reason }) => `not there: ${onOneLine(key, 60)} (${reason})`),
  ...leftOut.map(
    ({ messages, reason, tokens }) => `left out: ${counted(messages, "message")} of ${tokens} tokens (${reason})`
  ),
  ...cuts.map(
    ({ call, characters, of, role }) =>
      `cut: ${characters} of ${of} characters (${role}${call === undefined ? "" : ` ${call}`})`
  ),
  ...(interrupted.length === 0 ? [] : [`told as interrupted: ${onOneLine(interrupted.join(", "))}`])
]

const written = (value: Json): string => {
  if (value === null) return "all"
  return typeof value === "string"
    ? value
    : Array.isArray(value)
      ? value.map(written).join(", ")
      : JSON.stringify(value)
}

/** Each part of the pattern, with the layer that decided it. */
const patternLines = ({ pattern }: ContextReport): ReadonlyArray<string> => {
  if (pattern === undefined) return []
  const { source_layers: sources, ...parts } = pattern
  const sourceOf = (name: string): string => {
    const source = typeof sources === "object" && sources !== null ? Reflect.get(sources, name) : undefined
    return typeof source === "string" ? ` (${source})` : ""
  }
  const told = Object.entries(parts).map(([name, value]) => `  ${name}: ${onOneLine(written(value))}${sourceOf(name)}`)
  return ["", "execution pattern", ...told]
}

export const contextText = (assistant: string, report: ContextReport): string =>
  [
    [
      `${assistant}: ${placeOf(report)}`,
      ...(report.context === undefined ? [] : [report.context]),
      ...(report.model === undefined ? [] : [onOneLine(report.model, 60)]),
      new Date(report.at).toISOString(),
      ...(report.ok ? [] : ["the model did not answer"])
    ].join(", "),
    "",
    partTable(report),
    "",
    `${report.tokens} of at most ${report.limit} tokens, ${percent(report.share)} of the window`,
    ...absenceLines(report),
    ...patternLines(report)
  ].join("\n")

const signed = (change: number): string => (change > 0 ? `+${change}` : String(change))

const changeRow = ({ id, key, messages, tokens: [before, after] }: PartChange): ReadonlyArray<string> => [
  before === null ? "added" : after === null ? "removed" : "changed",
  String(id),
  onOneLine(key, 40),
  String(before ?? 0),
  String(after ?? 0),
  signed((after ?? 0) - (before ?? 0)),
  `${messages[0] ?? 0} → ${messages[1] ?? 0}`
]

const pairLine = (what: string, [before, after]: readonly [number | string | null, number | string | null]) =>
  before === after ? [] : [`${what}: ${before ?? "none"} → ${after ?? "none"}`]

export const differenceText = (
  assistant: string,
  before: ContextReport,
  after: ContextReport,
  difference: ReportComparison
): string => {
  const { absent, cuts, interrupted, leftOut, parts, tokens, tokensMore } = difference
  return [
    `${assistant}: ${placeOf(before)} → ${placeOf(after)}`,
    "",
    ...(parts.length === 0
      ? ["every component is the same"]
      : [table([["", "id", "component", "tokens before", "after", "change", "messages"], ...parts.map(changeRow)])]),
    "",
    `${tokens[0]} → ${tokens[1]} tokens (${signed(tokensMore)})`,
    ...pairLine("kind of context", difference.context),
    ...pairLine("offered tools", difference.toolTokens),
    ...pairLine("at most", difference.limit),
    ...absent.flatMap(({ key, reasons }) => pairLine(`not there: ${onOneLine(key, 60)}`, reasons)),
    ...leftOut.flatMap(({ messages, reason }) => pairLine(`messages left out (${reason})`, messages)),
    ...pairLine("contents cut", cuts),
    ...pairLine("calls told as interrupted", interrupted)
  ].join("\n")
}
