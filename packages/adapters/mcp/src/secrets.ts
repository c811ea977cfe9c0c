// Secrets: what the options hand to a server and no one else may read.
// Owns which values these are, and taking them out of a text. Leaves where that is needed to connection.ts and tools.ts.
// X1  What a server says, in a result or on its way out, does not carry a secret of its own options to a model.

import type { McpServer } from "./options.ts"

const telling = /key|token|secret|passw|pwd|auth|credential|cookie/iu
/** A shorter one stands in too many texts by chance. */
const MIN_CHARS = 8

const secretsOf = ({ transport }: McpServer): ReadonlyArray<string> => {
  const given = Object.entries(("url" in transport ? transport.headers : transport.env) ?? {})
  const values = given.flatMap(([name, value]) => {
    if (!telling.test(name)) return []
    // `Bearer abc` is said without its first word too.
    return [value, ...value.split(" ").slice(1)]
  })
  return values.filter(({ length }) => length >= MIN_CHARS).toSorted((a, b) => b.length - a.length)
}

export const withoutSecrets = (server: McpServer, text: string): string =>
  secretsOf(server).reduce((left, secret) => left.replaceAll(secret, "[secret]"), text)
