// Parts: the containers of a document, and what each operation does to them.
// Owns where fields, items and entries stand, and carrying operations out. Leaves who may do it to `document.ts`.
// C1  Every container has a name of its own at the root: writers that begin one at the same time have begun the same.
// C2  Values stand as JSON text, so that they come back exactly, the order of their members included.
// C3  A list never has more items than its schema allows (A36): the oldest go, wherever they stand. Items are numbered as
//     they come for that; of two that came at the same time the first in the list is the older one.

import { type Json, parseJson } from "@reverie/protocol"
import * as Result from "effect/Result"
import type { LoroDoc, LoroList } from "loro-crdt"
import { type BlockContent, misfitOfItem, type PartContent } from "./content.ts"
import type { BlockOperation } from "../operation.ts"
import { LOG_AGENT, LOG_TIME } from "../render.ts"
import { type BlockField, type BlockSchema, misfitOf, misfitOfMembers, type PartSchema } from "./schema.ts"

export interface Moment {
  readonly by: string
  readonly at: number
  /** May say itself when something was and who did it. */
  readonly isSystem: boolean
}

/** Whether anything was done, or why it can not be. */
type Outcome = Result.Result<boolean, string>

const DONE: Outcome = Result.succeed(true)

const containersOf = (doc: LoroDoc, section: string | undefined) => {
  const at = section === undefined ? "" : `s:${section}:`
  return {
    text: () => doc.getText(`${at}text`),
    fields: () => doc.getMap(`${at}fields`),
    items: () => doc.getList(`${at}items`),
    log: () => doc.getList(`${at}log`),
    listOf: (field: string) => doc.getList(`${at}list:${field}`),
    counterOf: (field: string) => doc.getCounter(`${at}count:${field}`)
  }
}

type Containers = ReturnType<typeof containersOf>

const kept = (value: Json): Result.Result<string, string> => {
  const text = JSON.stringify(value) as string | undefined
  if (text === undefined) return Result.fail("it is no JSON value")
  return Result.map(parseJson(text), (parsed) => JSON.stringify(parsed))
}

const readKept = (text: unknown): Json => JSON.parse(String(text)) as Json

const valuesOf = (list: LoroList, newest: number = Infinity): ReadonlyArray<Json> =>
  list
    .toArray()
    .slice(Math.max(0, list.length - newest))
    .map(readKept)

/** The number and the value of an item. */
type Item = readonly [no: number, value: Json]

const itemsOf = (list: LoroList): ReadonlyArray<Item> => list.toArray().map((text) => readKept(text) as unknown as Item)

const setField = (containers: Containers, { name, type }: BlockField, value: Json): Outcome => {
  if (type === "counter") {
    const counter = containers.counterOf(name)
    const by = Number(value) - counter.value
    if (by !== 0) counter.increment(by)
    return Result.succeed(by !== 0)
  }
  if (type === "list" && Array.isArray(value)) {
    return Result.flatMap(Result.all(value.map(kept)), (texts) => {
      const list = containers.listOf(name)
      list.delete(0, list.length)
      for (const text of texts) list.push(text)
      return DONE
    })
  }
  return Result.flatMap(kept(value), (text) => {
    if (containers.fields().get(name) === text) return Result.succeed(false)
    containers.fields().set(name, text)
    return DONE
  })
}

const onField = (containers: Containers, field: BlockField, operation: BlockOperation): Outcome => {
  switch (operation.op) {
    case "set_field":
    case "set_text_field": {
      const value = operation.op === "set_field" ? operation.value : operation.text
      if (operation.op === "set_text_field" && field.type !== "text") return Result.fail("it is no field for a text")
      const misfit = misfitOf(field, value)
      return misfit === undefined ? setField(containers, field, value) : Result.fail(misfit)
    }
    case "append_to_list_field":
      if (field.type !== "list") return Result.fail(`the field ${JSON.stringify(field.name)} is no list`)
      return Result.flatMap(kept(operation.value), (text) => {
        containers.listOf(field.name).push(text)
        return DONE
      })
    case "increment_counter": {
      if (field.type !== "counter") return Result.fail(`the field ${JSON.stringify(field.name)} is no counter`)
      if (!Number.isSafeInteger(operation.by)) return Result.fail("a counter is changed by whole numbers")
      if (operation.by === 0) return Result.succeed(false)
      containers.counterOf(field.name).increment(operation.by)
      return DONE
    }
    default:
      return Result.fail("it is no operation on a field")
  }
}

const onText = (containers: Containers, operation: BlockOperation): Outcome => {
  const text = containers.text()
  const present = text.toString()
  switch (operation.op) {
    case "set_text": {
      const wanted = operation.text.toWellFormed()
      text.update(wanted)
      return Result.succeed(wanted !== present)
    }
    case "append_text":
      text.insert(present.length, operation.text.toWellFormed())
      return Result.succeed(operation.text !== "")
    case "replace_text": {
      const [old, wanted] = [operation.old.toWellFormed(), operation.new.toWellFormed()]
      if (old === "") return Result.fail("the text to be replaced is empty")
      const at = present.indexOf(old)
      if (at < 0) return Result.succeed(false)
      if (old === wanted) return Result.succeed(true)
      text.delete(at, old.length)
      text.insert(at, wanted)
      return DONE
    }
    default:
      return Result.fail("it is no operation on a text")
  }
}

type ListSchema = Extract<PartSchema, { readonly kind: "list" }>

const onList = (containers: Containers, schema: ListSchema, operation: BlockOperation): Outcome => {
  const items = containers.items()
  switch (operation.op) {
    case "push_item":
    case "insert_item": {
      const index = operation.op === "push_item" ? items.length : operation.index
      if (!Number.isInteger(index) || index < 0 || index > items.length) return Result.fail(noPlace(index, items))
      const misfit = misfitOfItem(schema, operation.value)
      if (misfit !== undefined) return Result.fail(misfit)
      return Result.flatMap(kept(operation.value), (text) => {
        const newest = itemsOf(items).reduce((most, [no]) => Math.max(most, no), 0)
        items.insert(index, `[${newest + 1},${text}]`)
        return DONE
      })
    }
    case "delete_item": {
      const { index } = operation
      if (!Number.isInteger(index) || index < 0 || index >= items.length) return Result.fail(noPlace(index, items))
      items.delete(index, 1)
      return DONE
    }
    default:
      return Result.fail("it is no operation on a list")
  }
}

const noPlace = (index: number, { length }: LoroList): string => `there is no place ${index} in a list of ${length}`

const timeText = (at: number): string => new Date(at).toISOString().replace(".000Z", "Z")

type LogSchema = Extract<PartSchema, { readonly kind: "log" }>

const onLog = (containers: Containers, schema: LogSchema, operation: BlockOperation, moment: Moment): Outcome => {
  if (operation.op !== "append_log_entry") return Result.fail("a log is only appended to")
  const { fields } = schema.entrySchema
  // What the schema does not name is kept and not shown.
  const named = Object.entries(operation.entry).filter(([name]) => fields.some((field) => field.name === name))
  const misfit = misfitOfMembers(fields, Object.fromEntries(named))
  if (misfit !== undefined) return Result.fail(misfit)
  const own = { [LOG_TIME]: timeText(moment.at), [LOG_AGENT]: moment.by }
  const entry = moment.isSystem ? { ...own, ...operation.entry } : { ...operation.entry, ...own }
  return Result.flatMap(kept(entry), (text) => {
    containers.log().push(text)
    return DONE
  })
}

/** Does it; what it answers was done is not committed yet. */
export const carryOut = (
  doc: LoroDoc,
  schema: PartSchema,
  operation: BlockOperation,
  moment: Moment
): Result.Result<boolean, string> => {
  const containers = containersOf(doc, operation.section)
  switch (schema.kind) {
    case "text":
      return onText(containers, operation)
    case "list":
      return onList(containers, schema, operation)
    case "log":
      return onLog(containers, schema, operation, moment)
    case "map": {
      const name = "field" in operation ? operation.field : ""
      const field = schema.fields.find((each) => each.name === name)
      return field === undefined
        ? Result.fail(`there is no field ${JSON.stringify(name)}`)
        : onField(containers, field, operation)
    }
  }
}

/** The parts of a block: its sections, or the one that it is itself. */
export const partsOf = (
  schema: BlockSchema
): ReadonlyArray<readonly [section: string | undefined, schema: PartSchema]> =>
  schema.kind === "composite" ? schema.sections.map(({ name, schema }) => [name, schema]) : [[undefined, schema]]

/** Takes the oldest items out of lists that have too many; answers how many those were. */
export const trim = (doc: LoroDoc, schema: BlockSchema): number => {
  let dropped = 0
  for (const [section, part] of partsOf(schema)) {
    if (part.kind !== "list" || part.maxItems === undefined) continue
    const items = containersOf(doc, section).items()
    const excess = Math.max(0, items.length - part.maxItems)
    const oldest = itemsOf(items)
      .map(([no], index) => ({ no, index }))
      .toSorted((one, other) => one.no - other.no || one.index - other.index)
      .slice(0, excess)
    for (const { index } of oldest.toSorted((one, other) => other.index - one.index)) items.delete(index, 1)
    dropped += excess
  }
  return dropped
}

const fieldValue = (containers: Containers, { name, type }: BlockField): Json | undefined => {
  if (type === "counter") return containers.counterOf(name).value
  if (type === "list") {
    const list = containers.listOf(name)
    return list.length === 0 ? undefined : valuesOf(list)
  }
  const text = containers.fields().get(name)
  return text === undefined ? undefined : readKept(text)
}

const partContent = (doc: LoroDoc, section: string | undefined, schema: PartSchema, newest: number): PartContent => {
  const containers = containersOf(doc, section)
  switch (schema.kind) {
    case "text":
      return { kind: "text", text: containers.text().toString() }
    case "map": {
      const values = schema.fields.flatMap((field): ReadonlyArray<readonly [string, Json]> => {
        const value = fieldValue(containers, field)
        return value === undefined ? [] : [[field.name, value]]
      })
      return { kind: "map", values: new Map(values) }
    }
    case "list":
      return { kind: "list", items: itemsOf(containers.items()).map(([, value]) => value) }
    case "log":
      return { kind: "log", entries: valuesOf(containers.log(), newest) }
  }
}

/** What the containers hold under a schema; of logs the newest entries alone, when that is all that is needed. */
export const contentOf = (doc: LoroDoc, schema: BlockSchema, ofLogs: "shown" | "all"): BlockContent => {
  const parts = partsOf(schema).map(([section, part]) => {
    const newest = part.kind === "log" && ofLogs === "shown" ? part.displayLimit : Infinity
    return [section ?? "", partContent(doc, section, part, newest)] as const
  })
  const [only] = parts
  return schema.kind === "composite" || only === undefined ? { kind: "composite", sections: new Map(parts) } : only[1]
}
