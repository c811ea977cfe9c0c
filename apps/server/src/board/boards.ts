// Boards: one board for each tenant that was asked for.
// Owns building them when they are first wanted, and handing on what is committed. Leaves their content to board.ts.
// B1  A board learns of every entry after the moment at which its building began.
// B2  What was committed in this process before a question is in its answer.
// B3  A building that failed is begun anew with the next question.

import type { OutboxRow } from "reverie"
import type { OutboxReader } from "../feed/outbox-reader.ts"
import type { ReadFleet } from "../gateway.ts"
import { Board } from "./board.ts"

export class Boards {
  readonly #fleetOf: (tenant: string) => ReadFleet
  readonly #reader: OutboxReader
  readonly #boards = new Map<string, Board>()
  readonly #building = new Map<string, Promise<Board>>()
  #stop: (() => void) | undefined

  constructor(fleetOf: (tenant: string) => ReadFleet, reader: OutboxReader) {
    this.#fleetOf = fleetOf
    this.#reader = reader
  }

  async of(tenant: string): Promise<Board> {
    const board = await this.#built(tenant)
    await this.#reader.catchUp()
    return board
  }

  /** Something was accepted there. */
  touch(tenant: string, id: string): void {
    this.#boards.get(tenant)?.touch(id)
  }

  /** Each is built anew with the next question. */
  drop(): void {
    this.#boards.clear()
    this.#building.clear()
  }

  close(): void {
    this.#stop?.()
  }

  #built(tenant: string): Promise<Board> {
    const known = this.#building.get(tenant)
    if (known !== undefined) return known
    const building = this.#build(tenant).catch((error: unknown) => {
      this.#boards.delete(tenant)
      this.#building.delete(tenant)
      throw error
    })
    this.#building.set(tenant, building)
    return building
  }

  async #build(tenant: string): Promise<Board> {
    await this.#reader.start()
    this.#stop ??= this.#reader.listen((rows) => this.#tell(rows))
    const board = new Board(this.#fleetOf(tenant))
    this.#boards.set(tenant, board)
    await board.build(Date.now())
    return board
  }

  #tell(rows: ReadonlyArray<OutboxRow>): void {
    for (const [tenant, board] of this.#boards) {
      const own = rows.filter(({ address }) => address.tenant === tenant)
      if (own.length > 0) board.tell(own)
    }
  }
}
