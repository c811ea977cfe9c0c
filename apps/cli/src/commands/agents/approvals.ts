// Approvals: calls that wait for a person, of the whole fleet.
// Owns listing, showing and deciding by the approval's own id. Leaves the order to orders.ts.
// P1  What is decided about is shown exactly as it would run, and characters that can not be seen are said to be there.

import { CommandFailed } from "../../failure.ts"
import { type ListOptions, pageOf, tellList } from "../../texts/list.ts"
import { named, oneOf } from "../../named.ts"
import { say, sayJson } from "../../output.ts"
import { ago, onOneLine, plain, table } from "../../texts/plain.ts"
import { findBackend } from "../../backend/find-backend.ts"
import type { AskedApproval, Backend } from "../../backend/backend.ts"
import type { Stop } from "../../running/stop.ts"
import type { LookOptions } from "./agents.ts"
import { giveOrder, type OrderOptions } from "./orders.ts"

const when = (at: number): string => `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`

const listText = (asked: ReadonlyArray<AskedApproval>): string =>
  asked.length === 0
    ? "no one waits for an approval"
    : table([
        ["approval", "assistant", "tool", "arguments", "expires"],
        ...asked.map((each) => [
          onOneLine(each.approval, 60),
          each.assistant,
          onOneLine(each.tool, 40),
          onOneLine(each.arguments ?? "", 60),
          each.expiresAt === undefined ? "" : ago(each.expiresAt)
        ])
      ])

export const list = async (options: LookOptions & ListOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "look", stop)
  const find = async () => {
    const { items, next } = pageOf(await backend.approvals(), options)
    return { key: "approvals", items, next, text: listText(items) }
  }
  return await tellList(options, find, backend)
}

const found = async (backend: Backend, wanted: string): Promise<AskedApproval> => {
  const asked = await backend.approvals()
  const id = oneOf(
    asked.map(({ approval }) => approval),
    wanted,
    () =>
      new CommandFailed("not-found", `no one asks for an approval "${wanted}"`, {
        hint: "it may have been decided, or have expired; reverie approvals ls names the open ones"
      })
  )
  return asked.find(({ approval }) => approval === id) as AskedApproval
}

const shown = (each: AskedApproval): string => {
  const { approval, assistant, call, category, chain, description, expiresAt, invisible, reason, tool } = each
  const lines = [
    `${approval}: ${assistant} asks for ${tool} (${call})`,
    ...(category === undefined ? [] : [`category ${category}`]),
    ...(description === undefined ? [] : [onOneLine(description, 300)]),
    ...(reason === undefined ? [] : [`a hook has a person asked: ${onOneLine(reason, 300)}`]),
    ...(expiresAt === undefined ? [] : [`expires ${ago(expiresAt)} (${when(expiresAt)})`]),
    ...chain.map(({ text, who }) => `because of ${onOneLine(`${who}${text === undefined ? "" : `: ${text}`}`, 200)}`),
    ...(invisible ? ["its arguments hold characters that can not be seen"] : []),
    "",
    each.arguments ?? "its arguments are too far back in the history"
  ]
  return plain(lines.join("\n"))
}

export const show = async (wanted: string, options: LookOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "look", stop)
  const approval = await found(backend, wanted)
  if (options.json) sayJson({ ok: true, approval })
  else say(shown(approval))
  return 0
}

export const decide = async (
  wanted: string,
  decision: "approved" | "denied",
  options: OrderOptions & { readonly note?: string },
  stop: Stop
): Promise<number> => {
  await using backend = await findBackend(options, "order", stop)
  const { approval, assistant } = await found(backend, wanted)
  const said = options.note === undefined ? {} : { note: options.note }
  return await giveOrder(
    backend,
    await named(backend, assistant),
    { type: "decide", decision, approval, ...said },
    options
  )
}
