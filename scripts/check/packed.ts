// Packed: the package as it is published, made once for the steps that prove what a user has.

import { allOf, run } from "./program.ts"

export interface Packed {
  /** What an installed package has in `node_modules/reverie`. */
  readonly folder: string
  readonly tarball: string
}

const make = async (): Promise<Packed> => {
  const said = await run("npm", ["run", "-s", "pack", "--", "--tarball", "--json"])
  if (said.code !== 0) throw new Error(`the package could not be made\n${allOf(said)}`)
  const { folder, tarball } = JSON.parse(said.stdout) as Packed
  return { folder, tarball }
}

let made: Promise<Packed> | undefined

export const packed = (): Promise<Packed> => (made ??= make())
