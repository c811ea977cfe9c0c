// Keys: the keyboard.
// Owns when a key is a command and when it is typing. Leaves what commands do to the code that binds them.
// K2  In a field, in a dialog, or with Ctrl, Meta or Alt held, no key is a command.
// K3  What was bound last hears first: a page before the shell.

import { useEffect, useRef } from "react"

/** From `j` or `g f` to what it does. */
export type Bindings = Readonly<Record<string, (event: KeyboardEvent) => void>>

const CHORD_MILLIS = 1_200
const bound: Array<{ readonly current: Bindings }> = []
let first: { readonly key: string; readonly at: number } | undefined

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.closest("input, textarea, select, [role=dialog], [role=alertdialog]") !== null)

const binding = (keys: string): ((event: KeyboardEvent) => void) | undefined =>
  bound.findLast(({ current }) => Object.hasOwn(current, keys))?.current[keys]

const onKey = (event: KeyboardEvent): void => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target)) return
  const now = Date.now()
  const chord = first !== undefined && now - first.at < CHORD_MILLIS ? `${first.key} ${event.key}` : undefined
  first = undefined
  const wanted = (chord === undefined ? undefined : binding(chord)) ?? binding(event.key)
  if (wanted !== undefined) {
    event.preventDefault()
    wanted(event)
    return
  }
  if (event.key === "g") first = { key: "g", at: now }
}

/** While it is mounted, these keys are commands. */
export const useKeys = (bindings: Bindings): void => {
  const latest = useRef(bindings)
  useEffect(() => {
    latest.current = bindings
  })
  useEffect(() => {
    if (bound.length === 0) document.addEventListener("keydown", onKey)
    bound.push(latest)
    return () => {
      bound.splice(bound.indexOf(latest), 1)
      if (bound.length === 0) document.removeEventListener("keydown", onKey)
    }
  }, [])
}
