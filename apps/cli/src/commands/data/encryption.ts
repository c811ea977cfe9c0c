// Encryption: a data directory that is encrypted at rest, and its keys.
// Owns what is said of it, and where the next key is. Leaves the rest to the SDK.

import { encrypt, type EncryptionKey, rotateKeys } from "reverie"
import { defined } from "@reverie/protocol"
import { CommandFailed } from "../../failure.ts"
import { note, say, sayJson } from "../../output.ts"
import { counted, plain } from "../../texts/plain.ts"

interface EncryptionOptions {
  /** Undefined where the environment names a database. */
  readonly data?: string
  readonly json: boolean
  readonly withoutLost: boolean
}

const dataOf = ({ data }: EncryptionOptions, verb: string): string => {
  if (data !== undefined) return data
  const hint = "say --data DIR for a data directory; a database is encrypted on its disk, by its own means"
  throw new CommandFailed("usage", `DATABASE_URL is set, and ${verb} works on data directories`, { hint })
}

const noteLost = (lost: ReadonlyArray<string>): void => {
  if (lost.length === 0) return
  const which = `${counted(lost.length, "segment")} of older entries, missing or damaged: ${lost.join(", ")}`
  note(plain(`it went on without ${which}; put back, ${lost.length === 1 ? "it does" : "they do"} not open`))
}

export const encryptAll = async (options: EncryptionOptions): Promise<number> => {
  const data = dataOf(options, "encrypt")
  const { keys, lost, rows } = await encrypt({ data, withoutLost: options.withoutLost })
  if (options.json) sayJson({ ok: true, data, rows, keys, segmentsLost: lost })
  else {
    const sealed = rows === 0 ? "" : `${rows} rows, and `
    say(plain(`${data} is encrypted: ${sealed}no file of it holds anything in the clear`))
    say(plain(`its keys are in ${keys}; keep a copy apart from the backups, for without it nothing can be read`))
  }
  noteLost(lost)
  return 0
}

/** The key that the environment says for the time after. */
const nextKey = ({
  REVERIE_NEW_KEY: key,
  REVERIE_NEW_KEY_FILE: file
}: NodeJS.ProcessEnv): EncryptionKey | undefined => {
  if (key !== undefined && key !== "") return { env: "REVERIE_NEW_KEY" }
  return file === undefined || file === "" ? undefined : { file }
}

/** A backup has no keys unless that was asked for, and what it was sealed with is gone from here. */
const RENEWED =
  "backups of before this can not be read any more without the keys.db of their time and the key that opened it; make a new backup now"

export const rotate = async ({
  renew,
  ...options
}: EncryptionOptions & { readonly renew: boolean }): Promise<number> => {
  const data = dataOf(options, "keys rotate")
  const to = nextKey(process.env)
  const { keys, lost, rows } = await rotateKeys({ data, renew, withoutLost: options.withoutLost, ...defined({ to }) })
  if (options.json) sayJson({ ok: true, data, keys, rows, segmentsLost: lost, isOtherKey: to !== undefined })
  else {
    const under = to === undefined ? "the same key" : "the new key; give that one from now on"
    say(plain(`${keys} data keys of ${data} were wrapped anew under ${under}`))
    if (renew) say(plain(`${rows} rows were encrypted with new data keys; those of before are destroyed`))
  }
  if (renew) note(RENEWED)
  noteLost(lost)
  return 0
}
