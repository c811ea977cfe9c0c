// Token: the bearer token of this tab.
// Owns where it is kept, and whether one is asked for. Leaves asking to shell/sign-in.tsx.
// K1  It lives in sessionStorage: closing the tab forgets it, and no other tab has it.

const KEY = "reverie.token"

let wanted = false
const listeners = new Set<() => void>()
const tell = () => {
  for (const listener of listeners) listener()
}

export const tokenNow = (): string | undefined => sessionStorage.getItem(KEY) ?? undefined

export const isTokenWanted = (): boolean => wanted

export const onToken = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The server has refused what we have. */
export const wantToken = (): void => {
  if (wanted) return
  wanted = true
  tell()
}

export const setToken = (token: string): void => {
  sessionStorage.setItem(KEY, token)
  wanted = false
  tell()
}

export const forgetToken = (): void => {
  sessionStorage.removeItem(KEY)
  tell()
}
