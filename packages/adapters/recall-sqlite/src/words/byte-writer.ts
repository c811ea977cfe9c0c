// ByteWriter: bytes that grow as they are written, and the reading of numbers in them.
// Owns numbers of several bytes. Leaves what they mean to posting-list.ts.
// B1  A number is written with seven bits in a byte, the lowest first; the eighth says that more follow.

const FIRST_BYTES = 1_024

export class ByteWriter {
  #bytes = new Uint8Array(FIRST_BYTES)
  #length = 0

  get length(): number {
    return this.#length
  }

  byte(value: number): void {
    this.#room(1)
    this.#bytes[this.#length++] = value
  }

  number(value: number): void {
    this.#room(5)
    let rest = value
    while (rest > 127) {
      this.#bytes[this.#length++] = (rest & 127) | 128
      rest >>>= 7
    }
    this.#bytes[this.#length++] = rest
  }

  bytes(more: Uint8Array): void {
    this.#room(more.length)
    this.#bytes.set(more, this.#length)
    this.#length += more.length
  }

  append(other: ByteWriter): void {
    this.bytes(other.#bytes.subarray(0, other.#length))
  }

  clear(): void {
    this.#length = 0
  }

  taken(): Uint8Array {
    return this.#bytes.slice(0, this.#length)
  }

  #room(more: number): void {
    if (this.#length + more <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(2 * this.#bytes.length, this.#length + more))
    grown.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = grown
  }
}
