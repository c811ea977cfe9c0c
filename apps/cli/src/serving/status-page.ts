// StatusPage: the states of a fleet at one glance, as a page without scripts.
// Owns its HTML. Leaves the states to the fleet.
// P1  Whatever an assistant is called stays text.

import type { AssistantView } from "reverie"
import { plain } from "../plain.ts"

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

const text = (value: string | number): string =>
  plain(String(value)).replaceAll(/[&<>"']/g, (sign) => escapes[sign] ?? "")

const style = `body{font:15px/1.5 system-ui,sans-serif;margin:2rem;color:#1c1c1c;background:#fff}
table{border-collapse:collapse}td,th{padding:.25rem .9rem .25rem 0;text-align:left;border-bottom:1px solid #ddd}
td.n{text-align:right;font-variant-numeric:tabular-nums}.halted{color:#a11}
@media (prefers-color-scheme:dark){body{color:#ddd;background:#161616}td,th{border-color:#333}.halted{color:#f77}}`

const row = ({ definition, haltReason, id, state, ticks, waiting }: AssistantView): string =>
  `<tr><td>${text(id)}</td><td>${text(definition)}</td><td${state === "halted" ? ' class="halted"' : ""}>${text(state)}${
    haltReason === undefined ? "" : `: ${text(haltReason)}`
  }</td><td class="n">${text(ticks)}</td><td class="n">${text(waiting)}</td></tr>`

const busy = ({ state, waiting }: AssistantView): boolean => state !== "awake.idle" || waiting > 0

/** The page; the busy ones first. */
export const statusPage = (views: ReadonlyArray<AssistantView>): string => {
  const rows = [...views.filter(busy), ...views.filter((view) => !busy(view))].map(row).join("\n")
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="5"><title>Reverie</title>
<style>${style}</style></head>
<body><h1>Fleet</h1><p>${views.length} assistants, ${views.filter(busy).length} of them busy or waited for.</p>
<table><thead><tr><th>assistant</th><th>definition</th><th>state</th><th>ticks</th><th>waiting</th></tr></thead>
<tbody>
${rows}
</tbody></table></body></html>
`
}
