// SignIn: asks for a token when the server wants one.

import { useState } from "react"
import { setToken, tokenNow } from "../api/token.ts"
import { Page } from "../parts/page.tsx"

export const SignIn = () => {
  const [token, write] = useState("")
  const refused = tokenNow() !== undefined
  return (
    <Page name="sign-in" title="A token is needed" ready>
      <form
        className="card max-w-lg space-y-4 p-5"
        onSubmit={(event) => {
          event.preventDefault()
          if (token.trim() !== "") setToken(token.trim())
        }}
      >
        <p className="text-ink-2">
          {refused ? "The server refused the token of this tab." : "This server answers only who has a token."} Tokens
          are in its configuration. What you write here is kept in this tab and forgotten when it is closed.
        </p>
        <label className="block space-y-1.5">
          <span className="font-medium">Token</span>
          <input
            className="field w-full font-mono"
            type="password"
            autoComplete="off"
            name="token"
            value={token}
            onChange={({ target }) => write(target.value)}
          />
        </label>
        <button type="submit" className="button button-primary" disabled={token.trim() === ""}>
          Go on
        </button>
      </form>
    </Page>
  )
}
