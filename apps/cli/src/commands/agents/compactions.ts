// Compactions: what was compacted of an assistant's history, and the orders about it: to compact, to take one back, to sleep.
// Owns choosing one, the orders and their words. Leaves reading and following to the backend.
// C1  Listing and showing write nothing and disturb no one.
// C2  The order to take back is durable when the command ends with 0; `undone` names what has been taken back by then.
// C3  An id may be given by a beginning that only one compaction has.

import { defined } from "@reverie/protocol"
import type { Compaction, DreamAccount, PlacedMessage } from "reverie"
import { orNothing } from "../../backend/transport.ts"
import { assertConsent } from "../../consent.ts"
import { CommandFailed } from "../../failure.ts"
import { type ListOptions, pageOf, tellList } from "../../texts/list.ts"
import { named, oneOf } from "../../named.ts"
import { say, sayJson } from "../../output.ts"
import { ago, onOneLine, plain, counted, percent, table } from "../../texts/plain.ts"
import { findBackend } from "../../backend/find-backend.ts"
import type { Stop } from "../../running/stop.ts"
import { followed, type OrderOptions, watching, giveOrder } from "./orders.ts"
import { accountsOf } from "./memory.ts"
import { dreamsText } from "../../texts/memory-text.ts"
import { type Outcome, outcomeText } from "../../texts/outcome-text.ts"
import type { Backend, Entry } from "../../backend/backend.ts"

// CompactionsText: compactions of a history for people.
// X1  Every message that was compacted is one line, with its place, so that it can be found again.

const when = (at: number): string => `${new Date(at).toISOString().slice(0, 16)}Z`

interface Hold {
  readonly compaction: string
  readonly at: number
}

const heldText = (whose: string, hold: Hold | undefined): ReadonlyArray<string> =>
  hold === undefined
    ? []
    : [
        `held since ${when(hold.at)}, when ${hold.compaction} was reverted: nothing is compacted until the window overflows, ` +
          `or reverie compactions ${whose} --release`
      ]

/** current: what the model is shown begins with its marker. superseded: a later one has taken it in. */
const stateOf = ({ id, undone_at }: Compaction, current: string | undefined): string =>
  undone_at === undefined ? (id === current ? "active" : "superseded") : "undone"

const compactionsText = (
  whose: string,
  compactions: ReadonlyArray<Compaction>,
  current: string | undefined
): string => {
  if (compactions.length === 0) return `nothing of ${whose}'s history has been compacted`
  const rows = compactions.map((each) => [
    each.id,
    ago(each.at),
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
const compactionText = (
  whose: string,
  compaction: Compaction,
  replaced: ReadonlyArray<PlacedMessage>,
  current: string | undefined,
  outcome: Outcome
): string => {
  const { after, before, extraction, id, marker, model, pieces, ratio, strategy, threshold, trigger } = compaction
  const atLeast = trigger === "order" ? "" : ` (threshold ${percent(threshold)})`
  return [
    `${whose}: ${id}, ${when(compaction.at)}, ${stateOf(compaction, current)}`,
    `${trigger}, at ${percent(ratio)} of the window${atLeast}, ${strategy}` +
      (pieces === 0 ? "" : ` in ${counted(pieces, "call")}${model === null ? "" : ` of ${onOneLine(model)}`}`),
    `${counted(before.messages, "message")} of ${before.tokens} tokens → ` +
      `${counted(after.messages, "message")} of ${after.tokens} tokens`,
    ...[compaction.above_aim, compaction.ended_hold?.reason].flatMap((why) =>
      why === undefined ? [] : [onOneLine(why)]
    ),
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
    ...outcomeText(outcome),
    "",
    `what it replaced (${counted(replaced.length, "message")})`,
    ...(before.start === null ? [] : [`  the marker of ${before.start.compaction}`]),
    ...replaced.map(lineOf)
  ].join("\n")
}

export interface CompactionsOptions extends OrderOptions, ListOptions {
  readonly json: boolean
  readonly show?: string
  readonly undo?: string
  readonly release?: boolean
}

const chosen = (compactions: ReadonlyArray<Compaction>, wanted: string, whose: string): Compaction => {
  const id = oneOf(
    compactions.map((each) => each.id),
    wanted,
    () =>
      new CommandFailed("not-found", `${whose} has no compaction "${wanted}"`, {
        code: "unknown-compaction",
        hint: "reverie compactions ID lists them"
      })
  )
  return compactions.find((each) => each.id === id) as Compaction
}

const look = async (name: string, options: CompactionsOptions, stop: Stop): Promise<number> => {
  const { json, show } = options
  await using backend = await findBackend(options, "look", stop)
  const { id } = await named(backend, name)
  if (show === undefined) {
    const find = async () => {
      const { items, next } = pageOf(await backend.compactions(id), options)
      const { current, hold } = await backend.historyNow(id)
      const text = [compactionsText(id, items, current), ...heldText(id, hold)].join("\n")
      const beside = { assistant: id, current: current ?? null, hold: hold ?? null }
      return { key: "compactions", items, next, beside, text }
    }
    return await tellList(options, find, backend)
  }
  const { compaction, messages, outcome } = await backend.opened(id, chosen(await backend.compactions(id), show, id))
  const { current } = await backend.historyNow(id)
  if (json) sayJson({ ok: true, assistant: id, current: current ?? null, compaction, messages, outcome })
  else say(compactionText(id, compaction, messages, current, outcome))
  return 0
}

const takeBack = async (name: string, wanted: string, options: CompactionsOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "order", stop)
  const { id } = await named(backend, name)
  const compaction = chosen(await backend.compactions(id), wanted, id)
  if (compaction.undone_at !== undefined) {
    throw new CommandFailed("wrong-state", `${compaction.id} has been reverted before`)
  }
  if (options.dryRun) {
    if (options.json) sayJson({ ok: true, dryRun: true, would: { undoCompaction: compaction.id }, assistant: id })
    else say(plain(`would revert ${compaction.id} of ${id}`))
    return 0
  }
  watching(backend, id, options.json)
  const receipt = await backend.undoCompaction(id, compaction.id)
  await followed(backend, id, options)
  const before = compaction.before.start?.compaction
  const undone = (await backend.compactions(id)).flatMap((each) => (each.undone_at === undefined ? [] : [each.id]))
  const isDone = undone.includes(compaction.id)
  if (options.json) {
    const { envelope, outcome } = receipt
    sayJson({ ok: true, receipt: outcome, envelope, assistant: id, compaction: compaction.id, isDone, undone })
    return 0
  }
  const { share = 0 } = isDone ? await backend.window(id) : {}
  const hold = isDone ? heldText(id, (await backend.historyNow(id)).hold) : []
  const full = share < 1 ? [] : [`its window overflows (${percent(share)}): the next message has it compacted again`]
  const where = before === undefined ? "at its very beginning" : `with the marker of ${before}`
  say(
    plain(
      isDone
        ? [`${compaction.id} is reverted: what ${id} is shown begins ${where} again`, ...hold, ...full].join("\n")
        : `${id} is asked to revert ${compaction.id}; it does when it is at rest`
    )
  )
  return 0
}

const release = async (name: string, options: CompactionsOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, options.dryRun ? "look" : "order", stop)
  const { id } = await named(backend, name)
  const { hold } = await backend.historyNow(id)
  if (hold === undefined)
    throw new CommandFailed("wrong-state", `nothing holds the history of ${id}: no undo stands there`)
  if (options.dryRun) {
    if (options.json) sayJson({ ok: true, dryRun: true, would: { release: hold.compaction }, assistant: id })
    else say(plain(`would let the history of ${id} be compacted again; the undo of ${hold.compaction} holds it`))
    return 0
  }
  watching(backend, id, options.json)
  const { envelope, outcome } = await backend.releaseHistory(id, options.id)
  await followed(backend, id, options)
  const isDone = (await backend.historyNow(id)).hold === undefined
  if (options.json)
    sayJson({ ok: true, receipt: outcome, envelope, assistant: id, compaction: hold.compaction, isDone })
  else
    say(
      plain(isDone ? `${id}: its history is compacted again when its time comes` : `${id} is asked to; it does at rest`)
    )
  return 0
}

export const compactions = (name: string, options: CompactionsOptions, stop: Stop): Promise<number> => {
  if (options.release === true) return release(name, options, stop)
  return options.undo === undefined ? look(name, options, stop) : takeBack(name, options.undo, options, stop)
}

// Nights: an assistant is sent to sleep or told to compact its history, or asked about its window and its last dream.
// Owns `dream` and `compact`. Leaves sleeping and compaction to the statechart.
// N1  The order to compact is durable when the command ends with 0; what has come of it by then is reported, and why nothing has.
// N2  With --dry-run nothing is ordered: how full the window is now, is read, whatever the last prompt was.

export interface DreamOptions extends OrderOptions {
  readonly report?: boolean
  /** A dream that is taken back, what of it, and why. */
  readonly undo?: string
  readonly accept?: string
  readonly item?: ReadonlyArray<string>
  readonly reason?: string
  /** Seconds. */
  readonly for?: number
}

/** Items of an account as it names them, or by the id of what they are of. */
const itemsOf = (account: DreamAccount, wanted: ReadonlyArray<string>): ReadonlyArray<string> => {
  const all = [...account.learnt, ...account.linked, ...account.changed, ...account.forgotten].map(({ item }) => item)
  return wanted.map((each) => {
    const names = new Set([each, `fact/${each}`, `entity/${each}`, `episode/${each}`])
    const item = all.find((one) => names.has(one))
    if (item !== undefined) return item
    throw new CommandFailed("not-found", `${account.id} has no item ${each}`, {
      hint: all.length === 0 ? "it has none" : `it has ${all.slice(0, 5).join(", ")}${all.length > 5 ? ", ..." : ""}`
    })
  })
}

/** Takes back what one of its dreams made, or accepts what waits of it; all of it or some items. */
const judgeDream = async (
  name: string,
  verb: "undo" | "accept",
  dreamt: string,
  options: DreamOptions,
  stop: Stop
): Promise<number> => {
  await using backend = await findBackend(options, "order", stop)
  const { id } = await named(backend, name)
  const params = { id, dream: dreamt }
  const account = await orNothing(backend.night((api) => api.dream({ params })))
  if (account === undefined) {
    throw new CommandFailed("not-found", `${id} has had no dream ${dreamt}`, {
      hint: `reverie memory ${id} dreams lists them`
    })
  }
  const items = options.item === undefined ? undefined : itemsOf(account, options.item)
  const waiting = [...account.learnt, ...account.forgotten].filter(({ waits }) => waits === true)
  const [made] = account.headline.split(/, [\d.]+ m?s/)
  const all = verb === "undo" ? made : `${waiting.length} waiting`
  const told = `${dreamt} of ${id}: ${items === undefined ? all : items.join(", ")}`
  const [does, done] = verb === "undo" ? ["take back", "taken back"] : ["accept", "accepted"]
  if (options.dryRun) {
    if (options.json) sayJson({ ok: true, dryRun: true, would: { [verb]: items ?? account }, assistant: id })
    else say(plain(`would ${does} ${told}`))
    return 0
  }
  await assertConsent(options, `${told} would be ${done}`)
  const receipt = await backend.night((api) =>
    verb === "undo"
      ? api.undoDream({ params, headers: {}, payload: defined({ items, reason: options.reason }) })
      : api.acceptDream({ params, headers: {}, payload: defined({ items }) })
  )
  await followed(backend, id, options)
  const key = verb === "undo" ? "undone" : "accepted"
  if (options.json) sayJson({ ok: true, assistant: id, [key]: dreamt, receipt, ...defined({ items }) })
  else say(plain(`${id} ${does.replace(/^(\w+)/, "$1s")}, at rest, ${told}`))
  return 0
}

export const dream = async (name: string, options: DreamOptions, stop: Stop): Promise<number> => {
  if (options.report === true) {
    await using backend = await findBackend(options, "look", stop)
    const { id } = await named(backend, name)
    const began = ({ value }: { readonly value: unknown }) =>
      typeof value === "object" && value !== null ? Number(Reflect.get(value, "began_at") ?? 0) : 0
    const last = (await backend.dreams(id)).toSorted((a, b) => began(a) - began(b)).at(-1)
    const shown = last === undefined ? [] : [last]
    const accounts = await accountsOf(backend, id, shown)
    const account = accounts.get(last?.key ?? "") ?? null
    if (options.json) sayJson({ ok: true, assistant: id, dream: last?.value ?? null, account })
    else say(plain(dreamsText(id, shown, accounts)))
    return 0
  }
  if (options.undo !== undefined) return judgeDream(name, "undo", options.undo, options, stop)
  if (options.accept !== undefined) return judgeDream(name, "accept", options.accept, options, stop)
  await using backend = await findBackend(options, "order", stop)
  const bound = options.for === undefined ? {} : { forMs: Math.max(1, Math.round(options.for * 1_000)) }
  return await giveOrder(backend, await named(backend, name), { type: "order", order: "sleep", ...bound }, options)
}

/** Without the definition the room of the last prompt is what is known of the window. */
const tellWindow = async (backend: Backend, id: string, json: boolean): Promise<number> => {
  const now = await backend.window(id)
  const limit = now.maxTokens ?? (await backend.contextReport(id, {}))?.limit ?? 0
  const share = now.share ?? (limit === 0 ? 0 : now.tokens / limit)
  const compacted = (await backend.compactions(id)).filter(({ undone_at }) => undone_at === undefined)
  const window = { ...now, limit, share }
  if (json) sayJson({ ok: true, dryRun: true, assistant: id, window, compactions: compacted.length })
  else {
    const { hold, skipped, would } = now
    const plan =
      would === undefined ? undefined : `would compact ${counted(would.compact, "message")} and keep ${would.keep}`
    const told = plan ?? (skipped === undefined ? undefined : `would compact nothing: ${skipped}`)
    say(
      plain(
        [
          `${id}: ${percent(share)} of its window is used now (${now.tokens} of ${limit} tokens, ` +
            `${counted(now.messages, "message")}), ${counted(compacted.length, "compaction")} so far`,
          ...(told === undefined ? [] : [told]),
          ...heldText(id, hold)
        ].join("\n")
      )
    )
  }
  return 0
}

/** More than a compaction ever takes. */
const MAX_COMMITS = 500

/** Why nothing was compacted, as the commits since the order say it; undefined where they do not. */
const whyNot = (entries: ReadonlyArray<Entry>, envelope: string): string | undefined => {
  const passed = entries.flatMap(({ settled = [] }) => settled).find(({ id }) => id === envelope)
  const detail = entries.findLast(({ step }) => step?.kind === "compact")?.step?.detail
  const told = passed?.reason ?? detail?.["skipped"] ?? detail?.["error"]
  return typeof told === "string" ? told : undefined
}

export const compact = async (name: string, options: OrderOptions, stop: Stop): Promise<number> => {
  // With a fleet file its definitions are known, and nothing of it is opened.
  await using backend = await findBackend(options, options.dryRun ? "fork" : "order", stop)
  const { commits, id } = await named(backend, name)
  if (options.dryRun) return await tellWindow(backend, id, options.json)
  const known = new Set((await backend.compactions(id)).map((each) => each.id))
  watching(backend, id, options.json)
  const key = options.id === undefined ? {} : { id: options.id }
  const { envelope, outcome } = await backend.within(backend.order(id, "compact", key))
  await followed(backend, id, options)
  const made = (await backend.compactions(id)).find((each) => each.trigger === "order" && !known.has(each.id))
  const skipped =
    made === undefined ? whyNot((await backend.entries(id, commits + 1, MAX_COMMITS)).items, envelope) : undefined
  if (options.json) {
    const why = skipped === undefined ? {} : { skipped }
    sayJson({ ok: true, receipt: outcome, envelope, assistant: id, compaction: made?.id ?? null, ...why })
  } else if (made !== undefined) {
    const { after, before, compacted_count: count } = made
    say(plain(`${id}: ${made.id} compacted ${counted(count, "message")}, ${before.tokens} → ${after.tokens} tokens`))
  } else {
    const told = outcome === "duplicate" ? "was asked before" : "is asked to compact its history; it does at rest"
    say(onOneLine(`${id} ${skipped === undefined ? told : `compacted nothing: ${skipped}`}`))
  }
  return 0
}
