// Packages: the programs of Debian that a run needs and the machine has not, unpacked into the run's own folder.
// Owns fetching them with apt, and the environment in which they run. Installs nothing and leaves apt as it is.
// T1  apt's lists, its cache and what it downloads are in the run's folder.
// T2  Compose and buildx are of the suite that has them: the next one's where the machine's own is older.

import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { codenameIn, type Machine, mirrorIn, programPath } from "./machine.ts"
import { must } from "./program.ts"

/** Programs, and the package each is from. */
const wanted: Readonly<Record<string, string>> = {
  dockerd: "docker.io",
  docker: "docker.io",
  containerd: "containerd",
  runc: "runc",
  iptables: "iptables",
  debootstrap: "debootstrap",
  slirp4netns: "slirp4netns"
}

/** The first suite whose Compose reads `!override` and `!reset`. */
const SUITE_OF_PLUGINS = "trixie"
const PLUGINS = ["docker-compose", "docker-buildx"]

export const packagesFor = (missing: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(missing.flatMap((program) => wanted[program] ?? []))
]

export const missingFrom = (has: (program: string) => boolean): ReadonlyArray<string> =>
  Object.keys(wanted).filter((program) => !has(program))

/** A source list of one suite, signed as Debian signs it. */
export const sourceOf = (mirror: string, suite: string): string =>
  `deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror} ${suite} main\n`

interface Apt {
  readonly folder: string
  /** Another source list than the machine's. */
  readonly source?: string
}

const aptArguments = ({ folder, source }: Apt): ReadonlyArray<string> => {
  const settings = {
    "Dir::State": join(folder, "state"),
    "Dir::State::status": "/var/lib/dpkg/status",
    "Dir::Cache": join(folder, "cache"),
    "APT::Sandbox::User": "root",
    "Debug::NoLocking": "1",
    ...(source === undefined ? {} : { "Dir::Etc::sourcelist": source, "Dir::Etc::sourceparts": "-" })
  }
  return ["-qq", "--yes", ...Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`])]
}

const openApt = async (apt: Apt): Promise<(doing: string, ...args: ReadonlyArray<string>) => Promise<string>> => {
  for (const folder of ["state/lists/partial", "cache/archives/partial"]) {
    mkdirSync(join(apt.folder, folder), { recursive: true })
  }
  const run = (doing: string, ...args: ReadonlyArray<string>) =>
    must(doing, "apt-get", [...aptArguments(apt), ...args], { cwd: join(apt.folder, "cache/archives") })
  await run("read the lists of Debian's packages (is the mirror reached from here?)", "update")
  return run
}

const unpack = async (from: string, to: string): Promise<void> => {
  mkdirSync(to, { recursive: true })
  for (const name of readdirSync(from).filter((each) => each.endsWith(".deb"))) {
    await must(`unpack ${name}`, "dpkg", ["-x", join(from, name), to])
  }
}

/** iptables is a name that installing gives; unpacked, it is one of two programs. */
const linkIptables = (root: string): void => {
  const multi = join(root, "usr/sbin/xtables-nft-multi")
  if (!existsSync(multi)) return
  for (const name of ["iptables", "ip6tables", "iptables-save", "iptables-restore"]) {
    if (!existsSync(join(root, "usr/sbin", name))) symlinkSync(multi, join(root, "usr/sbin", name))
  }
}

const archOf = (root: string): string =>
  existsSync(join(root, "usr/lib"))
    ? (readdirSync(join(root, "usr/lib")).find((name) => name.endsWith("-linux-gnu")) ?? "x86_64-linux-gnu")
    : "x86_64-linux-gnu"

/** How programs find each other, and their libraries, below another root. */
export const environmentBelow = (
  root: string,
  arch: string,
  before: Readonly<Record<string, string | undefined>>
): Readonly<Record<string, string | undefined>> => ({
  ...before,
  // What is installed comes first: it is known to run here.
  PATH: [before["PATH"], ...["usr/sbin", "usr/bin", "sbin", "bin"].map((folder) => join(root, folder))].join(":"),
  LD_LIBRARY_PATH: ["usr/lib", "lib"].map((folder) => join(root, folder, arch)).join(":"),
  XTABLES_LIBDIR: existsSync(join(root, "usr/lib", arch, "xtables"))
    ? join(root, "usr/lib", arch, "xtables")
    : undefined,
  DEBOOTSTRAP_DIR: existsSync(join(root, "usr/share/debootstrap")) ? join(root, "usr/share/debootstrap") : undefined
})

/** Docker finds plugins in its configuration, which is the run's own. */
const linkPlugins = (root: string, config: string): void => {
  mkdirSync(join(config, "cli-plugins"), { recursive: true })
  for (const name of PLUGINS) {
    const places = ["usr/libexec/docker/cli-plugins", "usr/lib/docker/cli-plugins"]
    const found = places.map((place) => join(root, place, name)).find((path) => existsSync(path))
    if (found !== undefined) symlinkSync(found, join(config, "cli-plugins", name))
  }
}

/** A docker without plugins of its own stands first on some machines: Debian's is asked where it is there. */
const dockerFirst = (folder: string, path: string): void => {
  mkdirSync(folder, { recursive: true })
  const docker = programPath("docker", "/usr/bin") ?? programPath("docker", path)
  if (docker === undefined) return
  writeFileSync(join(folder, "docker"), `#!/bin/sh\nexec ${docker} "$@"\n`)
  chmodSync(join(folder, "docker"), 0o755)
}

export interface Tools {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The packages that the machine has not. */
  readonly fetched: ReadonlyArray<string>
}

/** Fetches what is missing into a folder, and answers the environment in which all of it is found. */
export const fetchTools = async (folder: string, machine: Machine): Promise<Tools> => {
  const root = join(folder, "root")
  const names = packagesFor(missingFrom(machine.has))
  const own = await openApt({ folder: join(folder, "apt") })
  if (names.length > 0) {
    const install = ["install", "--download-only", "--no-install-recommends", "--no-remove"]
    await own(`fetch ${names.join(", ")}`, ...install, ...names)
    await unpack(join(folder, "apt/cache/archives"), root)
    linkIptables(root)
  }
  const [mirror = "", codename] = [mirrorIn(machine.sources), codenameIn(machine.osRelease)]
  const source = join(folder, "plugins.list")
  writeFileSync(source, sourceOf(mirror, codename === "bookworm" ? SUITE_OF_PLUGINS : (codename ?? SUITE_OF_PLUGINS)))
  const plugins = await openApt({ folder: join(folder, "plugins"), source })
  await plugins(`fetch ${PLUGINS.join(", ")}`, "download", ...PLUGINS)
  await unpack(join(folder, "plugins/cache/archives"), join(folder, "plugins/root"))
  const config = join(folder, "docker-config")
  linkPlugins(join(folder, "plugins/root"), config)
  const below = environmentBelow(root, archOf(root), process.env)
  dockerFirst(join(folder, "bin"), below["PATH"] ?? "")
  const env = { ...below, PATH: `${join(folder, "bin")}:${below["PATH"] ?? ""}`, DOCKER_CONFIG: config }
  return { env, fetched: [...names, ...PLUGINS] }
}
