// Doors: what the package offers by name and loads with its first use.
// Owns the list. Leaves what is behind each door to its own module.
// O1  Importing the package evaluates nothing that only an open fleet, a fork or a move needs: it costs no more than an
//     ordinary library.
// O2  Behind a door stands the very class or function, loaded once: what it makes is `instanceof` it.

import type { ExportOptions } from "./moving/export-fleet.ts"
import type { FleetOptions } from "./fleet-options.ts"
import type { Fleet as OpenFleet } from "./fleet.ts"
import { loaded } from "./opening/loaded.ts"
import type { FleetReader as OpenReader } from "./views/peek.ts"

type Asked = (...given: ReadonlyArray<unknown>) => unknown

/** The function of that name, which loads its module when it is called. */
const door = <Module, Name extends keyof Module>(load: () => Promise<Module>, name: Name): Module[Name] => {
  const call: Asked = async (...given) => ((await load())[name] as Asked)(...given)
  return call as Module[Name]
}

const importing = () => import("./moving/import-fleet.ts")
const moving = () => import("./moving/move-data-store.ts")
const prompts = () => import("./forking/exact-prompt.ts")
const fixtures = () => import("./forking/fixture.ts")
const backups = () => import("./opening/backup.ts")
const probes = () => import("./checks/probe.ts")

export const importAgentFile = door(() => import("./letta/import-agent-file.ts"), "importAgentFile")
/** Reads the lines of an export to their end, and writes nothing. */
export const checkExport = door(importing, "checkExport")
/** Brings what an export holds to life in a data store: whole, or nothing of it. */
export const importFleet = door(importing, "importFleet")
/** Moves all that lives in one data store to another one. */
export const moveDataStore = door(moving, "moveDataStore")
export const reopenDataStore = door(moving, "reopenDataStore")
export const promptOfTick = door(prompts, "promptOfTick")
export const promptsOfTick = door(prompts, "promptsOfTick")
/** Lives through one tick again in a data store of its own, with another prompt, model or tool results. */
export const forkTick = door(() => import("./forking/fork.ts"), "forkTick")
export const checkFixture = door(fixtures, "checkFixture")
export const fixtureOfTick = door(fixtures, "fixtureOfTick")
/** Copies a data directory, also while a fleet works in it. */
export const backup = door(backups, "backup")
/** Makes a data directory of what `backup` wrote. */
export const restore = door(backups, "restore")
/** Encrypts a data directory that is in the clear. */
export const encrypt = door(backups, "encrypt")
/** Wraps the keys of an encrypted data directory anew. */
export const rotateKeys = door(backups, "rotateKeys")
export const describeModel = door(probes, "describeModel")
export const probeModel = door(probes, "probeModel")
export const probeServers = door(probes, "probeServers")
export const unusedModelKey = door(probes, "unusedModelKey")
/** Sends a written course of events to a fleet, in its order. */
export const play = door(() => import("./play.ts"), "play")

/** The lines of an export, one after the other. */
export async function* exportFleet(options: ExportOptions): AsyncGenerator<string> {
  const { exportFleet: lines } = await import("./moving/export-fleet.ts")
  yield* lines(options)
}

/** What `instanceof` and a look at its methods ask of a class. */
interface Known<Instance> {
  readonly prototype: Instance
  readonly [Symbol.hasInstance]: (value: unknown) => value is Instance
}

const known = <Instance extends object>(name: keyof typeof loaded): Known<Instance> => ({
  get prototype() {
    return loaded[name]?.prototype as Instance
  },
  [Symbol.hasInstance]: (value): value is Instance => loaded[name]?.[Symbol.hasInstance](value) === true
})

/** All assistants of one deployment, in the hands of a program. */
export type Fleet = OpenFleet
export const Fleet: Pick<typeof OpenFleet, "open" | "shared"> & Known<OpenFleet> = Object.assign(
  known<OpenFleet>("Fleet"),
  {
    open: async (options: FleetOptions) => (await import("./fleet.ts")).Fleet.open(options),
    shared: async (options: FleetOptions) => (await import("./fleet.ts")).Fleet.shared(options)
  }
)

/** A look into a store, beside the process that works on it. */
export type FleetReader = OpenReader
export const FleetReader: Pick<typeof OpenReader, "open"> & Known<OpenReader> = Object.assign(
  known<OpenReader>("FleetReader"),
  {
    open: async (data?: string, tenant?: string) => (await import("./views/peek.ts")).FleetReader.open(data, tenant)
  }
)
