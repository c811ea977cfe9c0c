// List: what every command that lists does with what it found.
// Owns its forms, pages and watching. Leaves finding the items to the command.
// L1  With --json one object, with --jsonl one object a line, else a table; the same items in each.
// L2  Watching tells it again whenever something has changed, until someone asks to stop or time runs out.

import { say, sayJson } from "../output.ts"
import type { Backend } from "../backend/backend.ts"
import type { Page } from "../backend/transport.ts"

export interface ListOptions {
  readonly json: boolean
  readonly jsonl?: boolean
  readonly limit?: number
  readonly cursor?: string
  readonly watch?: boolean
}

export interface Listing<Item> extends Partial<Page<Item>> {
  readonly items: ReadonlyArray<Item>
  /** The name of the items in the object of --json. */
  readonly key: string
  /** What stands beside them in it. */
  readonly beside?: object
  readonly text: string
}

const DEFAULT_LIMIT = 50

/** A page out of what is all here; the cursor is the number of the next one. */
export const pageOf = <Item>(all: ReadonlyArray<Item>, { cursor, limit = DEFAULT_LIMIT }: ListOptions): Page<Item> => {
  const from = cursor === undefined ? 0 : Math.max(0, Number.parseInt(cursor, 10) || 0)
  const items = all.slice(from, from + limit)
  return { items, next: from + limit < all.length ? String(from + limit) : null }
}

const tell = <Item>({ beside = {}, items, key, next = null, text }: Listing<Item>, options: ListOptions): void => {
  if (options.jsonl === true) for (const item of items) sayJson(item)
  else if (options.json) sayJson({ ok: true, ...beside, [key]: items, next })
  else say(next === null ? text : `${text}\n\nmore with --cursor ${next}`)
}

const CLEAR = "\u001b[H\u001b[J"

/** Tells a list; again and again where it is watched. */
export const tellList = async <Item>(
  options: ListOptions,
  find: () => Promise<Listing<Item>>,
  backend?: Backend
): Promise<number> => {
  const isScreen = options.watch === true && !options.json && options.jsonl !== true && process.stdout.isTTY
  let before: string | undefined
  while (true) {
    const found = await (backend === undefined ? find() : backend.within(find()))
    const now = JSON.stringify(found)
    if (now !== before) {
      if (isScreen) process.stdout.write(CLEAR)
      tell(found, options)
    }
    before = now
    if (options.watch !== true || backend === undefined) return 0
    await backend.within(backend.changed())
  }
}
