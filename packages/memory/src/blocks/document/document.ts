// StructuredDocument: what one memory block holds, as a document that several may change at the same time.
// Owns permission, read-only marks and the commit of a change. Leaves carrying it out to `parts.ts`, the form of the text
// to `render.ts`, keeping it to the store.
// D1  All but the system change only what the permission allows and no read-only mark forbids (F90, F91, F101).
// D2  Documents that have heard of the same commits hold the same, in whatever order they heard of them.
// D3  A change that was refused in the middle leaves a document that must be thrown away: load it again.

import * as Result from "effect/Result"
import type * as Library from "loro-crdt"
import type { Frontiers, LoroDoc } from "loro-crdt"
import { createHash } from "node:crypto"
import * as Effect from "effect/Effect"
import { BlockRefused, BlockUnreadable, ConsentNeeded } from "../../errors.ts"
import { type BlockContent, misfitOfContent } from "./content.ts"
import { type Access, actOf, type BlockAct, type BlockOperation, fieldOf, kindOf } from "../operation.ts"
import { carryOut, contentOf, type Moment, partsOf, trim } from "./parts.ts"
import { renderContent } from "../render.ts"
import type { BlockSchema, PartSchema } from "./schema.ts"

export interface Author extends Moment {
  /** What the permission of the block lets him do; the system is not asked. */
  readonly accessTo: (act: BlockAct) => Access
}

/** A state of a document, by the last changes that lead to it. */
export type Place = Frontiers

interface Spot {
  readonly schema: PartSchema
  readonly readOnly: boolean
}

const placeKey = (place: Place): string =>
  place
    .map(({ counter, peer }) => `${counter}@${peer}`)
    .toSorted()
    .join()

export class StructuredDocument {
  readonly #doc: LoroDoc
  readonly #label: string
  #schema: BlockSchema

  constructor(doc: LoroDoc, label: string, schema: BlockSchema) {
    this.#doc = doc
    this.#label = label
    this.#schema = schema
  }

  static empty({ LoroDoc }: Loro, label: string, schema: BlockSchema): StructuredDocument {
    return new StructuredDocument(new LoroDoc(), label, schema)
  }

  /** From what was kept: a snapshot, if there is one, and the patches after it, which lead to the place. */
  static load(
    { LoroDoc }: Loro,
    label: string,
    schema: BlockSchema,
    kept: { readonly snapshot?: Uint8Array; readonly patches: ReadonlyArray<Uint8Array>; readonly place: Place }
  ): Result.Result<StructuredDocument, BlockUnreadable> {
    const doc = new LoroDoc()
    const damaged = (message: string) => {
      doc.free()
      return Result.fail(new BlockUnreadable({ block: label, message: `block ${label} is damaged: ${message}` }))
    }
    try {
      for (const bytes of kept.snapshot === undefined ? kept.patches : [kept.snapshot, ...kept.patches]) {
        doc.import(bytes)
      }
    } catch (thrown) {
      // The library throws plain texts.
      return damaged(String(thrown))
    }
    return placeKey(doc.frontiers()) === placeKey(kept.place)
      ? Result.succeed(new StructuredDocument(doc, label, schema))
      : damaged("changes of it are missing")
  }

  get schema(): BlockSchema {
    return this.#schema
  }

  /** Content and history stay; only how they are read is another. The kind must be the same. */
  set schema(schema: BlockSchema) {
    this.#schema = schema
  }

  /** Why what it holds does not fit its schema; undefined when it does. */
  misfit(): string | undefined {
    return misfitOfContent(this.#schema, this.content())
  }

  /** Who writes from now on. Two documents must never write as the same one. */
  writeAs(peer: `${number}`): void {
    if (this.#doc.peerIdStr !== peer) this.#doc.setPeerId(peer)
  }

  /** Makes a change and leaves it uncommitted. Answers whether there was anything to change. */
  change(operation: BlockOperation, author: Author): Result.Result<boolean, BlockRefused | ConsentNeeded> {
    const spot = this.#spotOf(operation)
    if (Result.isFailure(spot)) return Result.fail(spot.failure)
    const objection = author.isSystem ? undefined : this.#objection(operation, spot.success, author)
    if (objection !== undefined) return Result.fail(objection)
    return Result.mapError(carryOut(this.#doc, spot.success.schema, operation, author), (message) =>
      this.#refused("schema", message)
    )
  }

  /** Takes the oldest items out where there are too many, uncommitted. */
  trim(): number {
    return trim(this.#doc, this.#schema)
  }

  /** Makes the document hold what it held at a place, uncommitted: nothing of what happened since is forgotten. */
  bringBack(place: Place): void {
    this.#doc.revertTo(place)
  }

  commit(by: string): void {
    this.#doc.commit({ origin: by })
  }

  /** Another document that holds what this one held at a place. */
  at(place: Place): StructuredDocument {
    return new StructuredDocument(this.#doc.forkAt(place), this.#label, this.#schema)
  }

  /** Where it stands. Asked in the middle of a change it commits it: ask before. */
  get place(): Place {
    return this.#doc.frontiers()
  }

  /** What this document knows and another one at that place does not. */
  patchSince(place: Place): Uint8Array {
    return this.#doc.export({ mode: "update", from: this.#doc.frontiersToVV(place) })
  }

  snapshot(): Uint8Array {
    return this.#doc.export({ mode: "snapshot" })
  }

  /** Takes over what another document knows. */
  merge(patch: Uint8Array): void {
    this.#doc.import(patch)
  }

  content(): BlockContent {
    return contentOf(this.#doc, this.#schema, "all")
  }

  /** How much of a limit it uses: texts as they are, fields and items as they are shown. Logs may grow for ever. */
  get chars(): number {
    const content = contentOf(this.#doc, this.#schema, "shown")
    return partsOf(this.#schema).reduce((sum, [section, schema]) => {
      const part = content.kind === "composite" ? content.sections.get(section ?? "") : content
      if (part === undefined || part.kind === "log") return sum
      return sum + (part.kind === "text" ? part.text.length : renderContent(schema, part).length)
    }, 0)
  }

  render(maxChars?: number): string {
    return renderContent(this.#schema, contentOf(this.#doc, this.#schema, "shown"), maxChars)
  }

  /** Gives its memory back. Nothing may be asked of it any more. */
  free(): void {
    this.#doc.free()
  }

  #spotOf(operation: BlockOperation): Result.Result<Spot, BlockRefused> {
    const { section } = operation
    const wrong = (message: string) => Result.fail(this.#refused("schema", message))
    const schema = this.#schema
    if (schema.kind !== "composite") {
      if (section !== undefined) return wrong("this block has no sections")
      return this.#fitting(operation, { schema, readOnly: false })
    }
    const names = schema.sections.map(({ name }) => name).join(", ")
    if (section === undefined) return wrong(`say which section: ${names}`)
    const found = schema.sections.find(({ name }) => name === section)
    return found === undefined
      ? wrong(`there is no section ${JSON.stringify(section)}, only ${names}`)
      : this.#fitting(operation, { schema: found.schema, readOnly: found.readOnly === true })
  }

  #fitting(operation: BlockOperation, spot: Spot): Result.Result<Spot, BlockRefused> {
    const { kind } = spot.schema
    if (kind === kindOf(operation)) return Result.succeed(spot)
    return Result.fail(this.#refused("schema", `${operation.op} is not for what it holds, which is a ${kind}`))
  }

  #objection(operation: BlockOperation, spot: Spot, author: Author): BlockRefused | ConsentNeeded | undefined {
    if (spot.readOnly) return this.#refused("read-only", `the section ${operation.section} is read-only`)
    const name = fieldOf(operation)
    if (spot.schema.kind === "map" && spot.schema.fields.some((field) => field.name === name && field.readOnly)) {
      return this.#refused("read-only", `the field ${name} is read-only`)
    }
    const act = actOf(operation)
    const access = author.accessTo(act)
    if (access === "allowed") return undefined
    return access === "refused"
      ? this.#refused("permission", `its permission does not allow to ${act}`)
      : new ConsentNeeded({ block: this.#label, from: access })
  }

  #refused(reason: BlockRefused["reason"], message: string): BlockRefused {
    return new BlockRefused({ block: this.#label, reason, message: `block ${this.#label}: ${message}` })
  }
}

// Loro: the library that documents are made of, loaded when the first document is.
// L1  Reading blocks, their texts included, never loads it: a process without changes of blocks does without its WASM.
// L2  A writer's number follows from names: nothing here is left to chance, and no two writers have the same one.

export type Loro = typeof Library

export const loadLoro: Effect.Effect<Loro> = Effect.promise(() => import("loro-crdt"))

/** The number of a writer, as the library takes it. */
export const peerOf = (...names: ReadonlyArray<string>): `${number}` => {
  const digest = createHash("sha256").update(JSON.stringify(names)).digest()
  // The greatest number of 64 bits means no author.
  return `${digest.readBigUInt64BE(0) >> 1n}` as `${number}`
}
