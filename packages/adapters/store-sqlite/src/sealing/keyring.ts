// Keyring: the data keys of a store, in a file of their own beside it.
// Owns making, wrapping, changing and destroying keys. Leaves what is sealed with them to the ledger's room, and the master key to
// its owner: an environment, a file, or a service that wraps.
// K1  A data key is on the disk, wrapped, before anything is sealed with it. In the clear keys are in memory only.
// K2  The master key wraps one root key, and the root key wraps the data keys: what opens with the master is asked once, and
//     a service that is slow or far away is not asked again while the store is open.
// K3  A key that was destroyed leaves no byte in the file. No backup carries the file unless it is asked to.
// K4  A new master key, or a new root key, changes no row of the store.

import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from "node:crypto"
import { existsSync } from "node:fs"
import { basename, dirname } from "node:path"
import { DatabaseSync, type StatementSync } from "node:sqlite"
import type { Subject, SubjectKey, SubjectKeys } from "@reverie/ledger"
import { privateFile } from "../files/owner.ts"

/** What wraps the root key of a store. Bytes in, bytes out; a service that manages keys does as well as a key at hand. */
export interface MasterKey {
  /** Encrypts the 32 bytes of a root key. Called once when a directory is first encrypted, and at each rotation. */
  readonly wrap: (key: Uint8Array) => Promise<Uint8Array> | Uint8Array
  /** Decrypts what `wrap` made, once an opening. Rejects, or throws, where it was wrapped by another one. */
  readonly unwrap: (wrapped: Uint8Array) => Promise<Uint8Array> | Uint8Array
}

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const BUSY_MILLIS = 1_000

/** Few are wrapped by one key, so that random nonces do not meet. */
const wrapped = (by: Uint8Array, key: Uint8Array, of: string): Uint8Array => {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv("aes-256-gcm", by, nonce).setAAD(Buffer.from(of))
  const body = cipher.update(key)
  cipher.final()
  return Buffer.concat([nonce, body, cipher.getAuthTag()])
}

/** Throws where it was wrapped by another key, or for something else. */
const unwrapped = (by: Uint8Array, bytes: Uint8Array, of: string): Uint8Array => {
  const nonce = bytes.subarray(0, NONCE_BYTES)
  const decipher = createDecipheriv("aes-256-gcm", by, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(of))
  decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES))
  const key = decipher.update(bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES))
  decipher.final()
  return key
}

const ROOT = "root key of a Reverie store"

/** A master key that is at hand. */
export const masterOf = (key: Uint8Array): MasterKey => ({
  wrap: (root) => wrapped(key, root, ROOT),
  unwrap: (bytes) => unwrapped(key, bytes, ROOT)
})

/** The 32 bytes that a text stands for, in hex or base64; undefined when it stands for none. */
export const keyIn = (text: string): Uint8Array | undefined => {
  const trimmed = text.trim()
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return Buffer.from(trimmed, "hex")
  if (!/^[\w+/-]{43}=?$/.test(trimmed)) return undefined
  const bytes = Buffer.from(trimmed, "base64")
  return bytes.length === KEY_BYTES ? bytes : undefined
}

const tables = `
-- The root key, wrapped, and something that it has wrapped: a service may answer with another key and not know it.
CREATE TABLE IF NOT EXISTS root (one INTEGER PRIMARY KEY CHECK (one = 1), wrapped BLOB NOT NULL, proof BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS keys (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  assistant TEXT NOT NULL,
  wrapped BLOB NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS keys_subject ON keys (tenant, assistant);
`

const nameOf = ({ assistant, tenant }: Subject): string => JSON.stringify([tenant, assistant])

interface KeyRow {
  readonly id: number
  readonly tenant: string
  readonly assistant: string
  readonly wrapped: Uint8Array
}

const IN_MEMORY = ":memory:"

const connected = (file: string, readOnly: boolean): DatabaseSync => {
  if (file !== IN_MEMORY && !readOnly) privateFile(dirname(file), basename(file), true)
  const database = new DatabaseSync(file, { readOnly, timeout: BUSY_MILLIS })
  // Without a log beside it: what is overwritten here is gone.
  if (!readOnly)
    database.exec(`PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; ${tables}`)
  return database
}

const PROOF = "proof of a root key"

const proofOf = (root: Uint8Array): Uint8Array => wrapped(root, Buffer.from(PROOF), PROOF)

interface RootRow {
  readonly wrapped: Uint8Array
  readonly proof: Uint8Array
}

/** The root key in a file, made where there is none. Rejects where it is another one that the master unwraps. */
const rootIn = async (database: DatabaseSync, master: MasterKey): Promise<Uint8Array> => {
  const present = database.prepare("SELECT wrapped, proof FROM root").get() as unknown as RootRow | undefined
  if (present !== undefined) {
    const root = await master.unwrap(present.wrapped)
    unwrapped(root, present.proof, PROOF)
    return root
  }
  const root = randomBytes(KEY_BYTES)
  const made = await master.wrap(root)
  database.prepare("INSERT INTO root (one, wrapped, proof) VALUES (1, ?, ?)").run(made, proofOf(root))
  return root
}

export class Keyring implements SubjectKeys {
  readonly #database: DatabaseSync
  readonly #readOnly: boolean
  #root: Uint8Array
  readonly #byId = new Map<number, SubjectKey>()
  /** By tenant, then by assistant: asked for each value that is sealed. */
  readonly #current = new Map<string, Map<string, SubjectKey>>()
  readonly #rowOf: StatementSync
  readonly #newestOf: StatementSync

  private constructor(database: DatabaseSync, readOnly: boolean, root: Uint8Array) {
    this.#database = database
    this.#readOnly = readOnly
    this.#root = root
    this.#rowOf = database.prepare("SELECT id, tenant, assistant, wrapped FROM keys WHERE id = ?")
    this.#newestOf = database.prepare(
      "SELECT id, tenant, assistant, wrapped FROM keys WHERE tenant = ? AND assistant = ? ORDER BY id DESC LIMIT 1"
    )
  }

  /** The keys in a file, which is made where it is missing. Rejects where the master key does not unwrap them. */
  static async open(file: string, master: MasterKey, readOnly = false): Promise<Keyring> {
    const database = connected(file, readOnly)
    try {
      return new Keyring(database, readOnly, await rootIn(database, master))
    } catch (error) {
      database.close()
      throw error
    }
  }

  static isThere(file: string): boolean {
    return file !== IN_MEMORY && existsSync(file)
  }

  /** The numbers of the keys in a file, for which no key has to be at hand. */
  static idsIn(file: string): ReadonlySet<number> {
    const database = new DatabaseSync(file, { readOnly: true })
    try {
      return new Set(
        database
          .prepare("SELECT id FROM keys")
          .all()
          .map(({ id }) => Number(id))
      )
    } finally {
      database.close()
    }
  }

  current(subject: Subject): SubjectKey {
    const known = this.#current.get(subject.tenant)?.get(subject.assistant)
    if (known !== undefined) return known
    const row = this.#newestOf.get(subject.tenant, subject.assistant) as unknown as KeyRow | undefined
    return row === undefined ? this.renew(subject) : this.#keep(this.#opened(row))
  }

  byId(id: number): SubjectKey | undefined {
    const known = this.#byId.get(id)
    if (known !== undefined) return known
    const row = this.#rowOf.get(id) as unknown as KeyRow | undefined
    if (row === undefined) return undefined
    const key = this.#opened(row)
    this.#byId.set(id, key)
    return key
  }

  /** Another key for a subject; what was sealed with those before still opens. */
  renew(subject: Subject): SubjectKey {
    const bytes = randomBytes(KEY_BYTES)
    // Who only reads has sealed nothing, and what is not kept seals nothing.
    if (this.#readOnly) return { id: 0, subject, secret: createSecretKey(bytes) }
    const { tenant, assistant } = subject
    const { lastInsertRowid } = this.#database
      .prepare("INSERT INTO keys (tenant, assistant, wrapped) VALUES (?, ?, ?)")
      .run(tenant, assistant, wrapped(this.#root, bytes, nameOf(subject)))
    return this.#keep({
      id: Number(lastInsertRowid),
      subject: { tenant, assistant },
      secret: createSecretKey(bytes)
    })
  }

  /** Destroys the keys of a subject, but the present one. What was sealed with them opens nowhere any more. */
  destroyFormer(subject: Subject): void {
    const present = this.current(subject)
    this.#database
      .prepare("DELETE FROM keys WHERE tenant = ? AND assistant = ? AND id <> ?")
      .run(subject.tenant, subject.assistant, present.id)
    for (const { id, subject: whose } of this.#byId.values()) {
      if (id !== present.id && nameOf(whose) === nameOf(subject)) this.#byId.delete(id)
    }
  }

  subjects(): ReadonlyArray<Subject> {
    const rows = this.#database.prepare("SELECT DISTINCT tenant, assistant FROM keys").all()
    return rows.map((row) => ({ tenant: String(row["tenant"]), assistant: String(row["assistant"]) }))
  }

  /** Wraps every data key anew, under a new root key under this master key. Answers how many they are. */
  async rotate(master: MasterKey): Promise<number> {
    const root = randomBytes(KEY_BYTES)
    const made = await master.wrap(root)
    const rows = this.#database
      .prepare("SELECT id, tenant, assistant, wrapped FROM keys")
      .all() as unknown as Array<KeyRow>
    const put = this.#database.prepare("UPDATE keys SET wrapped = ? WHERE id = ?")
    this.#database.exec("BEGIN IMMEDIATE")
    try {
      for (const row of rows)
        put.run(wrapped(root, unwrapped(this.#root, row.wrapped, nameOf(row)), nameOf(row)), row.id)
      this.#database.prepare("UPDATE root SET wrapped = ?, proof = ?").run(made, proofOf(root))
      this.#database.exec("COMMIT")
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK")
      throw error
    }
    this.#root = root
    return rows.length
  }

  close(): void {
    this.#database.close()
  }

  #opened(row: KeyRow): SubjectKey {
    const { assistant, id, tenant } = row
    return {
      id,
      subject: { tenant, assistant },
      secret: createSecretKey(unwrapped(this.#root, row.wrapped, nameOf(row)))
    }
  }

  #keep(key: SubjectKey): SubjectKey {
    const { assistant, tenant } = key.subject
    const ofTenant = this.#current.get(tenant) ?? new Map<string, SubjectKey>()
    this.#current.set(tenant, ofTenant.set(assistant, key))
    this.#byId.set(key.id, key)
    return key
  }
}
