// Sealing: what a store keeps of a subject, encrypted under a key of that subject.
// Owns the form of sealed bytes and what they are bound to. Leaves keys to the adapter that keeps them (`SubjectKeys`), and
// which columns are sealed to the adapters whose rows they are (`sealed-rows.ts`).
// S1  AES-256-GCM. What was sealed for a place opens there and nowhere else: subject, table, column and the row's own columns are
//     authenticated with it. What was changed or moved, or whose key is gone, does not open; nothing else suffers from it.
// S2  No nonce comes twice under a key. Each opening of the store draws 128 random bits, and derives from a data key and these
//     the key it seals with; under it nonces count. So no key has a bound that a long life could reach, and nothing has to be
//     written down to keep count.
// S3  A subject whose keys are destroyed can be read nowhere any more, also not in a copy that was made before.
// S4  What is kept in memory of what was sealed answers in the place of decrypting only where that would answer the same.

import { Buffer } from "node:buffer"
import { createCipheriv, createDecipheriv, createHmac, createSecretKey, type KeyObject } from "node:crypto"

/** Whose key it is: an assistant's, or with an empty `assistant` what a tenant has besides its assistants. */
export interface Subject {
  readonly tenant: string
  readonly assistant: string
}

export interface SubjectKey {
  /** The number of the key: it stands in what was sealed. Never used twice. */
  readonly id: number
  readonly subject: Subject
  /** Of 32 bytes. As an object: bytes would be made into one with each use, which costs three times the encryption. */
  readonly secret: KeyObject
}

/** The data keys of a store. */
export interface SubjectKeys {
  /** The key that a subject is sealed with; made, and durable, where there is none. */
  readonly current: (subject: Subject) => SubjectKey
  /** Undefined when it was destroyed, or never was. */
  readonly byId: (id: number) => SubjectKey | undefined
}

/** What the values of a row are bound to: the names of table and column, and the columns that tell the row. */
export type Place = readonly [table: string, column: string, ...row: ReadonlyArray<PlaceColumn>]

export type PlaceColumn = string | number | bigint | null

export interface Opened {
  readonly content: string | Uint8Array
  readonly subject: Subject
}

const TEXT = 0xa1
const BYTES = 0xa2
const SALT_BYTES = 16
const SALT_AT = 5
const COUNT_AT = SALT_AT + SALT_BYTES
const COUNT_BYTES = 6
const HEADER_BYTES = COUNT_AT + COUNT_BYTES
const TAG_BYTES = 16
const NONCE_BYTES = 12

/** By how much sealed bytes are longer than what is in them. */
export const SEALED_OVERHEAD = HEADER_BYTES + TAG_BYTES

/** So many sealed bytes are kept in memory of texts that are read again soon, twice, and so many of each at most. */
const LATE_BYTES = 2_097_152
const LONGEST_LATE_BYTES = 4_096

interface Late {
  readonly from: number
  readonly to: number
  readonly bound: string
  readonly content: string
}

/** What was sealed in a while, by the counts of nonces. The sealed bytes are a copy, all in one piece of memory. */
interface While {
  readonly bytes: Buffer
  readonly known: Map<number, Late>
  end: number
}

const takenFrom = (some: While | undefined, count: number, sealed: Buffer, bound: string): string | undefined => {
  const late = some?.known.get(count)
  if (some === undefined || late === undefined) return undefined
  if (late.bound !== bound || sealed.compare(some.bytes, late.from, late.to) !== 0) return undefined
  some.known.delete(count)
  return late.content
}

/** What was sealed lately, in this while and the one before; what is older is decrypted. */
class Lately {
  #now: While | undefined
  #before: While | undefined

  keep(count: number, sealed: Uint8Array, bound: string, content: string): void {
    // Bytes have no place for half a character: decrypted it would be another one.
    if (sealed.length > LONGEST_LATE_BYTES || !content.isWellFormed()) return
    const now = this.#withRoom(sealed.length)
    const from = now.end
    now.end += sealed.length
    now.bytes.set(sealed, from)
    now.known.set(count, { from, to: now.end, bound, content })
  }

  /** At most once. */
  take(count: number, sealed: Buffer, bound: string): string | undefined {
    return takenFrom(this.#now, count, sealed, bound) ?? takenFrom(this.#before, count, sealed, bound)
  }

  #withRoom(length: number): While {
    if (this.#now !== undefined && this.#now.end + length <= LATE_BYTES) return this.#now
    const next = this.#before ?? { bytes: Buffer.allocUnsafeSlow(LATE_BYTES), known: new Map(), end: 0 }
    next.known.clear()
    next.end = 0
    this.#before = this.#now
    this.#now = next
    return next
  }
}

/** Derived keys and names in memory. Beyond it they are derived again. */
const MOST_DERIVED = 4_096

/** Texts are encoded in here, one at a time: bytes of their own for each would cost a fifth of sealing it. */
const scratch = Buffer.alloc(65_536)

/** The bytes of a text, until the next one is encoded. */
const encoded = (text: string): Uint8Array =>
  text.length * 3 <= scratch.length ? scratch.subarray(0, scratch.write(text)) : Buffer.from(text)

/** Whether a value has the form of one that was sealed. */
const isSealed = (value: unknown): value is Uint8Array =>
  value instanceof Uint8Array && value.length >= SEALED_OVERHEAD && (value[0] === TEXT || value[0] === BYTES)

/** The number of the data key that bytes were sealed with; 0 where they are not sealed. */
export const keyIdOf = (sealed: Uint8Array): number =>
  isSealed(sealed) ? new DataView(sealed.buffer, sealed.byteOffset).getUint32(1) : 0

/** Made of a data key once: the key that seals, and its subject as it stands in JSON. */
interface Derived {
  readonly key: KeyObject
  readonly subject: string
}

const derivedFrom = ({ secret, subject: { assistant, tenant } }: SubjectKey, salt: Uint8Array): Derived => ({
  key: createSecretKey(createHmac("sha256", secret).update(salt).digest()),
  subject: `,${JSON.stringify(tenant)},${JSON.stringify(assistant)}`
})

const kept = <K, V>(known: Map<K, V>, name: K, make: () => V): V => {
  const value = known.get(name)
  if (value !== undefined) return value
  if (known.size >= MOST_DERIVED) known.clear()
  const made = make()
  known.set(name, made)
  return made
}

/** The beginning of a place as text. */
export const namesText = (table: string, column: string): string =>
  `,${JSON.stringify(table)},${JSON.stringify(column)}`

/** What stands in a place for a column that tells the row. */
export const columnText = (value: PlaceColumn): string =>
  value === null ? ",null" : typeof value === "string" ? `,${JSON.stringify(value)}` : `,"${value}"`

const placeText = ([table, column, ...row]: Place): string => namesText(table, column) + row.map(columnText).join("")

export class Sealing {
  readonly #keys: SubjectKeys
  readonly #salt: Uint8Array
  /** Derived with the salt of this opening, by the numbers of the data keys. */
  readonly #here = new Map<number, Derived>()
  /** Derived with the salts of earlier openings. */
  readonly #earlier = new Map<string, Derived>()
  readonly #lately = new Lately()
  /** A name is asked for whenever its row is looked for and written. */
  readonly #blind = new Map<string, string>()
  /** Both are written anew for each value: what is made of them is a copy. */
  readonly #header = Buffer.alloc(HEADER_BYTES)
  readonly #nonce = Buffer.alloc(NONCE_BYTES)
  #count = 0

  /** `salt`: random bytes of this opening. */
  constructor(keys: SubjectKeys, salt: Uint8Array) {
    if (salt.length !== SALT_BYTES) throw new Error(`a salt has ${SALT_BYTES} bytes`)
    this.#keys = keys
    this.#salt = salt
    this.#header.set(salt, SALT_AT)
  }

  seal(subject: Subject, place: Place, content: string | Uint8Array, isForNow = false): Uint8Array {
    return this.sealAt(subject, placeText(place), content, isForNow)
  }

  /** Undefined when it does not open; see S1. */
  open(place: Place, sealed: Uint8Array): Opened | undefined {
    return this.openAt(placeText(place), sealed)
  }

  /**
   * With the place as text: `namesText` and a `columnText` for each column. `isForNow`: a text that is read once, and soon; it
   * is kept in memory for a while. See S4.
   */
  sealAt(subject: Subject, place: string, content: string | Uint8Array, isForNow = false): Uint8Array {
    const key = this.#keys.current(subject)
    const kind = typeof content === "string" ? TEXT : BYTES
    const header = this.#header
    header[0] = kind
    header.writeUInt32BE(key.id, 1)
    header.writeUIntBE(++this.#count, COUNT_AT, COUNT_BYTES)
    const derived = this.#derivedHere(key)
    const cipher = createCipheriv("aes-256-gcm", derived.key, this.#nonceOf(header))
    const bound = `[${kind}${derived.subject}${place}]`
    cipher.setAAD(encoded(bound))
    const body = cipher.update(typeof content === "string" ? encoded(content) : content)
    cipher.final()
    const sealed = Buffer.allocUnsafe(SEALED_OVERHEAD + body.length)
    sealed.set(header)
    sealed.set(body, HEADER_BYTES)
    sealed.set(cipher.getAuthTag(), HEADER_BYTES + body.length)
    if (isForNow && typeof content === "string") this.#lately.keep(this.#count, sealed, bound, content)
    return sealed
  }

  /** Undefined when it does not open; see S1. */
  openAt(place: string, sealed: Uint8Array): Opened | undefined {
    if (!isSealed(sealed)) return undefined
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
    const key = this.#keys.byId(bytes.readUInt32BE(1))
    if (key === undefined) return undefined
    const kind = bytes[0] ?? 0
    const derived = this.#derived(key, bytes)
    const bound = `[${kind}${derived.subject}${place}]`
    const late = this.#lately.take(bytes.readUIntBE(COUNT_AT, COUNT_BYTES), bytes, bound)
    if (late !== undefined) return { content: late, subject: key.subject }
    const decipher = createDecipheriv("aes-256-gcm", derived.key, this.#nonceOf(bytes), { authTagLength: TAG_BYTES })
    decipher.setAAD(encoded(bound))
    decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES))
    const body = decipher.update(bytes.subarray(HEADER_BYTES, bytes.length - TAG_BYTES))
    try {
      decipher.final()
    } catch {
      return undefined
    }
    return { content: kind === TEXT ? body.toString("utf8") : new Uint8Array(body), subject: key.subject }
  }

  /** A name that stands for a text: the same for the same text of a subject, and telling nothing without its key. */
  blind({ assistant, tenant }: Subject, text: string): string {
    const { id, secret } = this.#keys.current({ tenant, assistant })
    return kept(this.#blind, `${id} ${text}`, () =>
      createHmac("sha256", secret).update(`name\n${text}`).digest("base64url")
    )
  }

  #nonceOf(header: Buffer): Uint8Array {
    header.copy(this.#nonce, NONCE_BYTES - COUNT_BYTES, COUNT_AT, HEADER_BYTES)
    return this.#nonce
  }

  #derivedHere(key: SubjectKey): Derived {
    return kept(this.#here, key.id, () => derivedFrom(key, this.#salt))
  }

  #derived(key: SubjectKey, header: Buffer): Derived {
    if (header.compare(this.#salt, 0, SALT_BYTES, SALT_AT, COUNT_AT) === 0) return this.#derivedHere(key)
    const name = `${key.id} ${header.toString("latin1", SALT_AT, COUNT_AT)}`
    return kept(this.#earlier, name, () => derivedFrom(key, header.subarray(SALT_AT, COUNT_AT)))
  }
}
