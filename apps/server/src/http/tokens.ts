// Tokens: who may come in from outside this machine, and for which tenant.
// Owns the form in which they are given. Leaves judging a request to guard.ts.
// T1  A token that is given wrongly is refused at the start, with its place and without its text.

/** One of them opens one tenant. */
export interface Token {
  /** Its name in the audit log. */
  readonly name: string
  readonly tenant: string
  readonly secret: string
  readonly readOnly: boolean
}

/**
 * Reads `REVERIE_TOKEN` (the whole default tenant) and `REVERIE_TOKENS`: `name:tenant:secret` with commas between them,
 * `name:tenant:secret:ro` for one that may only look. Throws a TypeError that names the place.
 */
export const tokensFrom = (one: string | undefined, several: string | undefined): ReadonlyArray<Token> => {
  const given = (several ?? "").split(",").flatMap((text, index): ReadonlyArray<Token> => {
    if (text.trim() === "") return []
    const [name = "", tenant = "", secret = "", right = "rw", ...rest] = text.trim().split(":")
    if (name === "" || tenant === "" || secret.length < 16 || rest.length > 0 || !["ro", "rw"].includes(right)) {
      throw new TypeError(
        `REVERIE_TOKENS: token ${index + 1} must be name:tenant:secret or name:tenant:secret:ro, its secret of 16 characters or more`
      )
    }
    return [{ name, tenant, secret, readOnly: right === "ro" }]
  })
  return one === undefined || one === ""
    ? given
    : [{ name: "REVERIE_TOKEN", tenant: "default", secret: one, readOnly: false }, ...given]
}
