// Machine: what a run on stand-ins needs of the machine it runs on.
// Owns the list and its sentences. Leaves fetching what packages can give to packages.ts.
// M1  Everything that is missing is said at once, each with what to do.

import { accessSync, constants, readFileSync, statfsSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"

export interface Machine {
  readonly platform: string
  readonly isRoot: boolean
  /** As `/etc/os-release` has it; empty where there is none. */
  readonly osRelease: string
  /** The texts of all source lists of apt. */
  readonly sources: ReadonlyArray<string>
  /** Programs on the PATH, and devices. */
  readonly has: (what: string) => boolean
  readonly freeBytes: number
  readonly folder: string
}

const GIGABYTE = 1_024 ** 3
/** Two copies of Debian, the packages of the image, and the layers between. */
const NEEDED_GIGABYTES = 12

/** What no package of the run brings along, each with where it is from. */
const programs: Readonly<Record<string, string>> = {
  "apt-get": "apt",
  dpkg: "dpkg",
  git: "git",
  ip: "iproute2",
  mount: "mount",
  npm: "npm",
  tar: "tar",
  unshare: "util-linux"
}

/** The suite of Debian, `bookworm`. */
export const codenameIn = (osRelease: string): string | undefined =>
  /^ID=debian$/m.test(osRelease) ? /^VERSION_CODENAME=(\w+)/m.exec(osRelease)?.[1] : undefined

/** Where its packages are from: the first address that a source list names. */
export const mirrorIn = (sources: ReadonlyArray<string>): string | undefined => {
  for (const text of sources) {
    const lines = text.split("\n").filter((line) => !line.trimStart().startsWith("#"))
    const [, mirror] = /(?:^URIs:\s*|^deb\s+(?:\[[^\]]*\]\s+)?)(\S+)/m.exec(lines.join("\n")) ?? []
    if (mirror !== undefined) return mirror
  }
  return undefined
}

export const needsOf = ({ folder, freeBytes, has, isRoot, osRelease, platform, sources }: Machine) => {
  if (platform !== "linux") return ["it is no Linux: containers of the stand-ins need its kernel"]
  const needs: Array<string> = []
  if (!isRoot) needs.push("it does not run as root: an engine of its own needs it (sudo npm run ...)")
  if (codenameIn(osRelease) === undefined) needs.push("it is no Debian: the stand-ins are made of its packages")
  else if (mirrorIn(sources) === undefined) needs.push("no source list of apt names a mirror of Debian")
  for (const [program, name] of Object.entries(programs)) {
    if (!has(program)) needs.push(`${program} is not on the PATH (apt-get install ${name})`)
  }
  if (!has("/dev/net/tun")) needs.push("/dev/net/tun can not be opened: the network of the engine is led through it")
  if (freeBytes < NEEDED_GIGABYTES * GIGABYTE) {
    const free = (freeBytes / GIGABYTE).toFixed(1)
    needs.push(`${folder} has ${free} GB free, and ${NEEDED_GIGABYTES} are needed (TMPDIR names another folder)`)
  }
  return needs
}

const textOf = (path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

const isThere = (path: string, mode: number): boolean => {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}

/** Where a program stands; undefined when it is not on that PATH. */
export const programPath = (name: string, path: string = process.env["PATH"] ?? ""): string | undefined =>
  path
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, name))
    .find((each) => isThere(each, constants.X_OK))

export const machineHere = (): Machine => {
  const { bavail, bsize } = statfsSync(tmpdir())
  return {
    platform: process.platform,
    isRoot: process.getuid?.() === 0,
    osRelease: textOf("/etc/os-release"),
    sources: ["/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list"].map(textOf),
    has: (what) => (what.startsWith("/") ? isThere(what, constants.R_OK) : programPath(what) !== undefined),
    freeBytes: bavail * bsize,
    folder: tmpdir()
  }
}
