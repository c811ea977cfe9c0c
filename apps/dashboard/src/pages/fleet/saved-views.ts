// SavedViews: filters, order and groups under a name, kept in this browser.
// V1  What is read back is read as the address of the page is: what no longer fits is dropped.
// V2  A name stands for one view: saved again, it means the new one. There are at most MOST_VIEWS.
// V3  A browser that keeps nothing (a private window) has them until the page is left.

import { useCallback, useState } from "react"
import { type FleetSearch, fleetSearch, text } from "../../shell/search.ts"

const KEY = "reverie.fleet.views"
const MOST_VIEWS = 24
export const MOST_NAME_CHARS = 40

export interface SavedView {
  readonly name: string
  readonly search: FleetSearch
}

const viewIn = (raw: unknown): ReadonlyArray<SavedView> => {
  if (typeof raw !== "object" || raw === null) return []
  const { name, search } = raw as { readonly name?: unknown; readonly search?: unknown }
  const known = text(name, MOST_NAME_CHARS)
  if (known === undefined || typeof search !== "object" || search === null) return []
  return [{ name: known, search: fleetSearch(search as Readonly<Record<string, unknown>>) }]
}

const read = (): ReadonlyArray<SavedView> => {
  try {
    const raw: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]")
    return Array.isArray(raw) ? raw.flatMap(viewIn).slice(0, MOST_VIEWS) : []
  } catch {
    return []
  }
}

const write = (views: ReadonlyArray<SavedView>): void => {
  try {
    localStorage.setItem(KEY, JSON.stringify(views))
  } catch {
    // V3.
  }
}

/** Whether both show the same. */
export const isSameView = (one: FleetSearch, other: FleetSearch): boolean => {
  const names = ["q", "state", "definition", "tag", "sort", "desc", "group"] as const
  return names.every((name) => one[name] === other[name])
}

export const useSavedViews = () => {
  const [views, set] = useState(read)
  const change = useCallback((next: (before: ReadonlyArray<SavedView>) => ReadonlyArray<SavedView>) => {
    // Another tab may have saved one since.
    const views = next(read())
    write(views)
    set(views)
  }, [])
  return {
    views,
    save: useCallback(
      (view: SavedView) =>
        change((before) => [...before.filter(({ name }) => name !== view.name), view].slice(-MOST_VIEWS)),
      [change]
    ),
    remove: useCallback((name: string) => change((before) => before.filter((view) => view.name !== name)), [change])
  }
}
