// Narrow: whether the window is that of a phone, as the styles say it too.

import { useSyncExternalStore } from "react"

const narrow = matchMedia("(width < 48rem)")

const watch = (watcher: () => void): (() => void) => {
  narrow.addEventListener("change", watcher)
  return () => narrow.removeEventListener("change", watcher)
}

export const useNarrow = (): boolean => useSyncExternalStore(watch, () => narrow.matches)
