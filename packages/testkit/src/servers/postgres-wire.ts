// PostgresWire: runs statements on a PostgreSQL, one connection a call.
// Owns as much of the protocol as starting a server and making databases takes. Leaves real work to real clients.
// W1  It logs in as the server asks: without a password, with one in clear, MD5 or SCRAM-SHA-256.

import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto"
import { connect as connectPlain, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"

/** What the server says when it refuses, with its code. */
export class PostgresRefusal extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(`${message} (${code})`)
    this.code = code
  }
}

interface Message {
  readonly type: string
  readonly body: Buffer
}

const text = (...parts: ReadonlyArray<string>): Buffer => Buffer.from(parts.map((part) => `${part}\0`).join(""))

const framed = (type: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(4)
  head.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type), head, body])
}

const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

/** The messages of a connection, one after the other. */
async function* messagesOf(socket: Socket): AsyncGenerator<Message, void> {
  let bytes: Buffer = Buffer.alloc(0)
  for await (const chunk of socket) {
    bytes = Buffer.concat([bytes, chunk as Buffer])
    while (bytes.length >= 5 && bytes.length > bytes.readInt32BE(1)) {
      const end = bytes.readInt32BE(1) + 1
      yield { type: bytes.toString("latin1", 0, 1), body: bytes.subarray(5, end) }
      bytes = bytes.subarray(end)
    }
  }
}

const refusalIn = (body: Buffer): PostgresRefusal => {
  const fields = new Map(
    body
      .toString("utf8")
      .split("\0")
      .map((field) => [field.slice(0, 1), field.slice(1)])
  )
  return new PostgresRefusal(fields.get("C") ?? "", fields.get("M") ?? "refused without a word")
}

const md5 = (...parts: ReadonlyArray<string | Buffer>): string => {
  const hash = createHash("md5")
  for (const part of parts) hash.update(part)
  return hash.digest("hex")
}

const hmac = (key: Buffer, words: string): Buffer => createHmac("sha256", key).update(words).digest()

const xor = (one: Buffer, other: Buffer): Buffer => Buffer.from(one.map((byte, index) => byte ^ (other[index] ?? 0)))

/** Answers the server's requests for a proof of the password, in the order in which they come. */
const prover = (user: string, password: string) => {
  const nonce = randomBytes(18).toString("base64")
  const proved = (challenge: string): string => {
    const said = new Map(challenge.split(",").map((field) => [field.slice(0, 1), field.slice(2)]))
    const salt = Buffer.from(said.get("s") ?? "", "base64")
    const salted = pbkdf2Sync(password, salt, Number(said.get("i")), 32, "sha256")
    const clientKey = hmac(salted, "Client Key")
    const final = `c=biws,r=${said.get("r") ?? ""}`
    const storedKey = createHash("sha256").update(clientKey).digest()
    const signature = hmac(storedKey, `n=,r=${nonce},${challenge},${final}`)
    return `${final},p=${xor(clientKey, signature).toString("base64")}`
  }
  return (body: Buffer): Buffer | undefined => {
    const kind = body.readInt32BE(0)
    if (kind === 3) return framed("p", text(password))
    if (kind === 5) return framed("p", text(`md5${md5(md5(password, user), body.subarray(4, 8))}`))
    if (kind === 10) {
      const first = Buffer.from(`n,,n=,r=${nonce}`)
      return framed("p", Buffer.concat([text("SCRAM-SHA-256"), int32(first.length), first]))
    }
    if (kind === 11) return framed("p", Buffer.from(proved(body.toString("utf8", 4))))
    if (kind === 0 || kind === 12) return undefined
    throw new PostgresRefusal("28000", `the server wants a login of kind ${kind}, which tests do not know`)
  }
}

const connected = (socket: Socket, event: "connect" | "secureConnect"): Promise<void> =>
  new Promise((resolve, reject) => {
    socket.once("error", reject)
    socket.once(event, () => {
      socket.off("error", reject)
      resolve()
    })
  })

const open = async ({ hostname, port, searchParams }: URL): Promise<Socket> => {
  const plain = connectPlain({ host: hostname, port: Number(port === "" ? 5432 : port) })
  await connected(plain, "connect")
  if (!/^(require|verify)/.test(searchParams.get("sslmode") ?? "")) return plain
  plain.write(Buffer.concat([int32(8), int32(80_877_103)]))
  const answer = await new Promise<Buffer>((resolve, reject) => plain.once("data", resolve).once("error", reject))
  if (answer.toString("latin1") !== "S") throw new PostgresRefusal("08001", "the server speaks no TLS")
  const strict = searchParams.get("sslmode") !== "require"
  const secured = connectTls({ socket: plain, servername: hostname, rejectUnauthorized: strict })
  await connected(secured, "secureConnect")
  return secured
}

const rowOf = (body: Buffer): ReadonlyArray<string | null> => {
  const row: Array<string | null> = []
  let at = 2
  while (row.length < body.readInt16BE(0)) {
    const length = body.readInt32BE(at)
    row.push(length === -1 ? null : body.toString("utf8", at + 4, at + 4 + length))
    at += 4 + Math.max(0, length)
  }
  return row
}

/** Runs statements one by one, outside a transaction, and answers the rows of all of them. */
export const postgresSays = async (
  url: string,
  ...statements: ReadonlyArray<string>
): Promise<ReadonlyArray<ReadonlyArray<string | null>>> => {
  const target = new URL(url)
  const user = decodeURIComponent(target.username === "" ? "postgres" : target.username)
  const database = decodeURIComponent(target.pathname.slice(1))
  const prove = prover(user, decodeURIComponent(target.password))
  const socket = await open(target)
  try {
    const startup = Buffer.concat([
      int32(196_608),
      text("user", user, "database", database === "" ? user : database, "")
    ])
    socket.write(Buffer.concat([int32(startup.length + 4), startup]))
    const waiting = [...statements]
    const rows: Array<ReadonlyArray<string | null>> = []
    for await (const { body, type } of messagesOf(socket)) {
      if (type === "E") throw refusalIn(body)
      if (type === "D") rows.push(rowOf(body))
      const proof = type === "R" ? prove(body) : undefined
      if (proof !== undefined) socket.write(proof)
      if (type !== "Z") continue
      const next = waiting.shift()
      if (next === undefined) return rows
      socket.write(framed("Q", text(next)))
    }
    throw new PostgresRefusal("08006", "the server closed the connection")
  } finally {
    socket.destroy()
  }
}
