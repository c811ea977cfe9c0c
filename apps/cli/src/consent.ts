// Consent: whether a person means what can not be taken back.
// Owns asking, who can not be asked, a text that is piped in, and files that are attached. Leaves what is asked to the command.
// C1  No one is asked who can not answer: without a terminal it is said with --yes, or not done.

import { readFile, stat } from "node:fs/promises"
import { basename, extname } from "node:path"
import { createInterface } from "node:readline/promises"
import { MAX_PART_BYTES } from "@reverie/protocol"
import type { AttachedPart } from "./backend/transport.ts"
import { CommandFailed } from "./failure.ts"
import { onOneLine } from "./texts/plain.ts"

export interface ChangeOptions {
  readonly json: boolean
  readonly dryRun: boolean
  readonly yes: boolean
  readonly id?: string
}

/** Resolves when it may be done. */
export const assertConsent = async ({ json, yes }: ChangeOptions, what: string): Promise<void> => {
  if (yes) return
  if (json || !process.stdin.isTTY || !process.stderr.isTTY) {
    throw new CommandFailed("consent-needed", `${what}: no one is here to be asked`)
  }
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const said = await asking.question(`${onOneLine(what)}? [y/N] `)
    if (/^y(es)?$/i.test(said.trim())) return
  } finally {
    asking.close()
  }
  throw new CommandFailed("consent-needed", `${what}: not meant, not done`, { code: "denied", hint: "" })
}

// Piped: a message that comes by standard input.

const MOST_CHARS = 1_000_000

/** What was said as an argument, else what is piped in; fails when it is neither. */
export const saidOrPiped = async (said: string | undefined, what: string): Promise<string> => {
  if (said !== undefined && said !== "-") return said
  if (process.stdin.isTTY) throw new CommandFailed("usage", `${what} is missing`)
  let text = ""
  process.stdin.setEncoding("utf8")
  for await (const chunk of process.stdin as AsyncIterable<string>) {
    text += chunk
    if (text.length > MOST_CHARS) throw new CommandFailed("usage", `${what} has more than ${MOST_CHARS} characters`)
  }
  if (text.trim() === "") throw new CommandFailed("usage", `${what} is missing`, { hint: "say it, or pipe it in" })
  return text.replace(/\r?\n$/, "")
}

// Attached: files that go with a message.

const mediaTypes: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".pdf": "application/pdf",
  ".txt": "text/plain",
  ".md": "text/markdown",
  ".csv": "text/csv",
  ".html": "text/html",
  ".json": "application/json",
  ".xml": "application/xml",
  ".mp3": "audio/mpeg",
  ".wav": "audio/wav",
  ".ogg": "audio/ogg",
  ".flac": "audio/flac",
  ".m4a": "audio/mp4"
}

/** Reads files as parts of a message; what they may be the fleet judges. Undefined when there are none. */
export const attached = async (files: ReadonlyArray<string> = []): Promise<ReadonlyArray<AttachedPart> | undefined> => {
  if (files.length === 0) return undefined
  return Promise.all(
    files.map(async (file): Promise<AttachedPart> => {
      const { size } = await stat(file).catch(() => {
        throw new CommandFailed("no-such-file", `there is no file ${file} to attach`)
      })
      // Nothing of that size is read only to be refused.
      if (size > MAX_PART_BYTES) {
        throw new CommandFailed(
          "usage",
          `${file} has more than ${MAX_PART_BYTES / 1_048_576} MiB, which one part may have`
        )
      }
      const data = (await readFile(file)).toString("base64")
      const mediaType = mediaTypes[extname(file).toLowerCase()] ?? "application/octet-stream"
      return { type: "file", data, mediaType, name: basename(file) }
    })
  )
}
