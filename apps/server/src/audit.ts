// Audit: who changed what through this server.
// Owns the newest lines in memory, and the file. Leaves what is worth a line to the gateway.
// A1  A tenant reads its own lines and no others.
// A2  Memory is bounded for each tenant, and nobody's lines push out another's; the file is only added to, one JSON object a line.

import { appendFile } from "node:fs/promises"
import type { AuditLine } from "./gateway.ts"

const KEPT = 2_000
const MAX_FIELD_CHARS = 300

const short = (text: string): string => (text.length > MAX_FIELD_CHARS ? `${text.slice(0, MAX_FIELD_CHARS)}…` : text)

export class Audit {
  readonly #file: string | undefined
  readonly #onTrouble: (line: string) => void
  readonly #byTenant = new Map<string, Array<AuditLine>>()
  #unwritten: Array<string> = []
  #writing: Promise<void> | undefined

  constructor(file: string | undefined, onTrouble: (line: string) => void) {
    this.#file = file
    this.#onTrouble = onTrouble
  }

  record(line: AuditLine): void {
    const kept = { ...line, target: short(line.target), outcome: short(line.outcome) }
    const lines = this.#byTenant.get(line.tenant) ?? []
    this.#byTenant.set(line.tenant, lines)
    lines.push(kept)
    if (lines.length > 2 * KEPT) lines.splice(0, lines.length - KEPT)
    if (this.#file === undefined) return
    this.#unwritten.push(`${JSON.stringify(kept)}\n`)
    this.#writing ??= this.#write(this.#file)
  }

  /** The newest first. */
  of(tenant: string, limit: number): ReadonlyArray<AuditLine> {
    return (this.#byTenant.get(tenant) ?? []).slice(-limit).toReversed()
  }

  /** Resolves when every line is in the file. */
  async flushed(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing
  }

  async #write(file: string): Promise<void> {
    // What comes in this turn is written together.
    await Promise.resolve()
    while (this.#unwritten.length > 0) {
      const lines = this.#unwritten
      this.#unwritten = []
      try {
        await appendFile(file, lines.join(""), { mode: 0o600 })
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error)
        this.#onTrouble(`the audit log can not be written: ${why}`)
      }
    }
    this.#writing = undefined
  }
}
