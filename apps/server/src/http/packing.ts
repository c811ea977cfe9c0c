// Packing: an answer made shorter for its way, in a form that the client says it reads.
// Owns which form, and from which length on. Leaves files that were packed when they were built to page.ts.
// K1  What is short, a stream, or packed already is left as it is; so is everything where a client names no form.
// K2  It is packed beside the event loop: a long answer holds up no one.
// K3  What might have been packed says that it depends on the client (`vary`), packed or not.
// K4  Packed, an answer is not byte for byte what its ETag named: then the tag is a weak one, which a client may send back all the same.
// K5  A token travels in a header that no other site can make a browser send: so the length of an answer tells no one of it.

import { defined } from "@reverie/protocol"
import { promisify } from "node:util"
import { brotliCompress, constants, gzip } from "node:zlib"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpServerResponse from "effect/http/HttpServerResponse"

type Pack = (bytes: Uint8Array) => Promise<Buffer>

interface Packing {
  readonly name: string
  readonly pack: Pack
}

/** Fast levels: what they leave is within a tenth of the best, for a tenth of the work. */
const brotli: Pack = (bytes) =>
  promisify(brotliCompress)(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
  })

/** The first that a client reads is taken. */
const packings: ReadonlyArray<Packing> = [
  { name: "br", pack: brotli },
  { name: "gzip", pack: promisify(gzip) as Pack }
]

/** About one packet: less would go no faster. */
const SHORTEST = 1_400
const WORDS = /^(?:application\/(?:[\w.+-]*\+)?json|text\/(?!event-stream))/

/** Whether a header of qualities lets something pass. */
export const accepts = (header: string | ReadonlyArray<string> | undefined, name: string): boolean => {
  const wanted = String(header ?? "")
    .split(",")
    .map((each) => each.trim().split(/\s*;\s*/))
    .find(([each]) => each === name)
  return wanted !== undefined && !wanted.some((each) => /^q=0(\.0*)?$/.test(each))
}

/** Whether a body of this type and length is packed for those who read a form of it. */
const isPackable = (type: string, length: number): boolean => length >= SHORTEST && WORDS.test(type)

interface Packed {
  readonly bytes: Uint8Array
  /** What says so; nothing of a body that is never packed. */
  readonly headers: Readonly<Record<string, string>>
}

/** A body as it goes out to a client that accepts these forms. */
export const packed = async (bytes: Uint8Array, type: string, accepted: string | undefined): Promise<Packed> => {
  if (!isPackable(type, bytes.length)) return { bytes, headers: {} }
  const vary = { vary: "accept-encoding" }
  const packing = packings.find(({ name }) => accepts(accepted, name))
  if (packing === undefined) return { bytes, headers: vary }
  return { bytes: await packing.pack(bytes), headers: { ...vary, "content-encoding": packing.name } }
}

type Response = HttpServerResponse.HttpServerResponse

/** Most answers are short: these go on at once. */
export const mayPack = ({ body, headers }: Response): boolean =>
  body._tag === "Uint8Array" &&
  headers["content-encoding"] === undefined &&
  isPackable(body.contentType, body.contentLength)

/** An answer of the contract, packed. */
export const packedResponse = async (response: Response, accepted: string | undefined): Promise<Response> => {
  const { body } = response
  if (body._tag !== "Uint8Array") return response
  const { bytes, headers } = await packed(body.body, body.contentType, accepted)
  const { etag } = response.headers
  const isWeak = bytes === body.body || etag === undefined || etag.startsWith("W/")
  return HttpServerResponse.setHeaders(
    HttpServerResponse.setBody(response, HttpBody.uint8Array(bytes, body.contentType)),
    { ...headers, ...defined({ etag: isWeak ? undefined : `W/${etag}` }) }
  )
}
