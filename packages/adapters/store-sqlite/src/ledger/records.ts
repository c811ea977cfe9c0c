// Records: the length of a row that is written over again and again.
// Owns padding. Leaves what the text says to `stored.ts` of the protocol.

const STEP_BYTES = 128
/** A row keeps up to this much padding before it is made shorter. */
const MOST_PADDING_BYTES = 4_096

/**
 * JSON text that is as many bytes long as the text it replaces, when it fits: a row that keeps its length is written over
 * in place, and JSON does not mind the spaces behind it.
 */
export const padded = (json: string, presentBytes: number): string => {
  const bytes = Buffer.byteLength(json)
  const spare = presentBytes - bytes
  const padding = spare >= 0 && spare <= MOST_PADDING_BYTES ? spare : Math.ceil(bytes / STEP_BYTES) * STEP_BYTES - bytes
  return json + " ".repeat(padding)
}
