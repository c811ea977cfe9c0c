// Theme: light, dark, or as the system has it.
// Owns where the choice is kept and how it gets to the styles. The colours stand in styles.css.

import { useSyncExternalStore } from "react"

const themes = ["system", "light", "dark"] as const
export type Theme = (typeof themes)[number]

const KEY = "reverie.theme"
const watchers = new Set<() => void>()

const themeNow = (): Theme => themes.find((theme) => theme === localStorage.getItem(KEY)) ?? "system"

export const applyTheme = (): void => {
  document.documentElement.dataset["theme"] = themeNow()
}

export const setTheme = (theme: Theme): void => {
  localStorage.setItem(KEY, theme)
  applyTheme()
  for (const watcher of watchers) watcher()
}

export const nextTheme = (theme: Theme): Theme => themes[(themes.indexOf(theme) + 1) % themes.length] ?? "system"

export const useTheme = (): Theme =>
  useSyncExternalStore((watcher) => {
    watchers.add(watcher)
    return () => watchers.delete(watcher)
  }, themeNow)
