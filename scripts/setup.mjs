// Setup: what a fresh clone needs before TypeScript can run: the packages, and a Node that strips types.
// Owns the install and the choice of Node. Leaves running anything to run.mjs. Plain JavaScript for Node >= 18.
// I1  Nothing is written to stdout: a caller's --json stays one JSON object.
// I2  When what is installed is what the lockfile says, nothing is installed and no process is started.
// I3  Who only runs a fleet keeps what that needs: the page is built at once, and what only its building needs goes again.
//     The tools come with the first command that builds or tests. A second npm unpacks what the page is built with, and the
//     page is built, beside the first: unpacking keeps one processor busy, and is nearly all that an install takes.
//     An install that is broken off ends what it has started, also where only its parent was told to end.
// I4  What is taken away is taken whole, or no program reads it: npm sees what is missing, and installs it again.

import { spawn, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { availableParallelism } from "node:os"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"

export const root = fileURLToPath(new URL("..", import.meta.url))
const stamp = join(root, "node_modules/.reverie-lock")
/** What running a fleet needs, and what building its page needs. */
const running = ["apps/cli", "examples/harbor"]
const page = "apps/dashboard"
const pagePackages = join(root, page, "node_modules")
/** Where they come to first: within the workspaces npm would install for the whole of them. */
const pageProject = join(root, page, ".reverie/packages")
const bundledNode = `node-${process.platform}-${process.arch}`
const oldestNode = 24

/** A failure that a person can act on: one line, no stack. */
export class SetupError extends Error {}

const read = (path) => (existsSync(path) ? readFileSync(path, "utf8") : "")

const wanted = () => {
  const workspaces = JSON.stringify(JSON.parse(read(join(root, "package.json"))).workspaces)
  return createHash("sha256")
    .update(read(join(root, "package-lock.json")))
    .update(workspaces)
    .digest("hex")
}

const filesIn = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return filesIn(path)
    return entry.isFile() ? [path] : []
  })

/** A page with other sources has to be built again, with the packages that this needs. */
const wantedToRun = (hash) => {
  const sources = ["index.html", "vite.config.ts", "package.json", "src"].map((name) => join(root, page, name))
  const sum = createHash("sha256").update(hash)
  for (const file of sources.flatMap((path) => (path.endsWith("src") ? filesIn(path).toSorted() : [path])))
    sum.update(read(file))
  return `${sum.digest("hex")} running`
}

/** A workspace that has come since the install needs nothing but its link. */
const linked = (path, folder) => {
  const link = join(root, path)
  if (existsSync(link)) return true
  if (!existsSync(join(root, folder)) || !existsSync(dirname(link))) return false
  rmSync(link, { force: true })
  symlinkSync(relative(dirname(link), join(root, folder)), link, "junction")
  return true
}

/** True when a person's own `npm ci` or `npm install` already brought exactly what the lockfile names. */
const agreesWithLockfile = () => {
  const installed = read(join(root, "node_modules/.package-lock.json"))
  if (installed === "") return false
  const present = JSON.parse(installed).packages ?? {}
  const locked = JSON.parse(read(join(root, "package-lock.json"))).packages ?? {}
  const external = Object.entries(locked).filter(([path]) => path.includes("node_modules/"))
  return external.every(([path, entry]) => {
    if (entry.link === true) return linked(path, entry.resolved)
    if (present[path] === undefined) return entry.optional === true
    return present[path].version === entry.version && present[path].integrity === entry.integrity
  })
}

/** Installs what the lockfile names, unless that is what is there; with `forRunning` only what running a fleet needs. */
export const ensureInstalled = async ({ forRunning = false } = {}) => {
  const hash = wanted()
  const stamped = read(stamp)
  if (stamped === hash) return
  const lean = forRunning ? wantedToRun(hash) : ""
  if (forRunning && stamped === lean) return
  const isWhole = agreesWithLockfile()
  if (!isWhole) {
    await install(forRunning, isNewEnough(process.versions.node))
  }
  writeFileSync(stamp, isWhole || !forRunning ? hash : lean)
}

/** What others want beside them, a compiler of TypeScript among it, is no part of running. */
const leanFlags = ["--omit=dev", "--legacy-peer-deps", "--include=optional"]

/** The packages of the lockfile that these folders need, by their places; without `links` only what comes from outside. */
const neededBy = (packages, folders, { links = true } = {}) => {
  const needed = new Set()
  const open = [...folders]
  const placeOf = (name, from) => {
    for (let at = from; ; at = at.includes("/") ? dirname(at) : "") {
      const place = `${at === "" ? "" : `${at}/`}node_modules/${name}`
      if (packages[place] !== undefined) return [place]
      if (at === "") return []
    }
  }
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    if (needed.has(place)) continue
    needed.add(place)
    const { dependencies, link, optionalDependencies, peerDependencies, resolved } = packages[place]
    if (link === true && links) open.push(resolved)
    const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
    for (const name of names) open.push(...placeOf(name, place))
  }
  return needed
}

/** No program reads them: Node runs no TypeScript of a package, and maps are for debuggers. */
const isUnread = (file) => file.endsWith(".map") || (/\.[cm]?tsx?$/.test(file) && !/\.d\.[cm]?ts$/.test(file))

const isExternal = ([place, { link }]) => place.includes("node_modules/") && link !== true

/** What the page is built with, as a project of its own: the part of the lockfile that says so. */
const writePageProject = (hasNode) => {
  const lock = JSON.parse(read(join(root, "package-lock.json")))
  const external = Object.fromEntries(Object.entries(lock.packages).filter(isExternal))
  const needed = neededBy(lock.packages, [page], { links: false })
  const node = `node_modules/${bundledNode}`
  if (!hasNode && external[node] !== undefined) needed.add(node)
  const direct = Object.keys(lock.packages[page].dependencies).filter((name) => external[`node_modules/${name}`])
  const whole = {
    name: "page",
    dependencies: Object.fromEntries(direct.map((name) => [name, lock.packages[page].dependencies[name]])),
    ...(needed.has(node) && { optionalDependencies: { [bundledNode]: external[node].version } })
  }
  const packages = { "": whole, ...Object.fromEntries(Object.entries(external).filter(([place]) => needed.has(place))) }
  mkdirSync(pageProject, { recursive: true })
  writeFileSync(join(pageProject, "package.json"), JSON.stringify(whole))
  writeFileSync(
    join(pageProject, "package-lock.json"),
    JSON.stringify({ lockfileVersion: lock.lockfileVersion, packages })
  )
  return Object.keys(lock.packages[page].dependencies).filter((name) => !direct.includes(name))
}

/** Gives the packages of the page their place, and builds it. Of the workspaces it reads only what stands in files of its own. */
const buildPage = async (workspaces) => {
  renameSync(join(pageProject, "node_modules"), pagePackages)
  for (const name of workspaces) {
    const { resolved } = JSON.parse(read(join(root, "package-lock.json"))).packages[`node_modules/${name}`]
    mkdirSync(dirname(join(pagePackages, name)), { recursive: true })
    symlinkSync(relative(dirname(join(pagePackages, name)), join(root, resolved)), join(pagePackages, name), "junction")
  }
  const node = node24([join(pagePackages, bundledNode, "bin/node")])
  return await run(root, node, ["--disable-warning=ExperimentalWarning", join(root, page, "build.ts")])
}

/** Takes away what running does not need. */
const slim = () => {
  const { packages } = JSON.parse(read(join(root, "package-lock.json")))
  const needed = neededBy(packages, running)
  const node = join(root, "node_modules", bundledNode)
  if (existsSync(join(pagePackages, bundledNode))) renameSync(join(pagePackages, bundledNode), node)
  for (const folder of [pageProject, pagePackages]) rmSync(folder, { recursive: true, force: true })
  for (const name of ["include", "share", "CHANGELOG.md"]) rmSync(join(node, name), { recursive: true, force: true })
  for (const [place] of Object.entries(packages).filter(isExternal)) {
    const folder = join(root, place)
    if (folder === node || !existsSync(folder)) continue
    if (!needed.has(place)) rmSync(folder, { recursive: true, force: true })
    else for (const file of filesIn(folder).filter(isUnread)) rmSync(file)
  }
  // npm would believe it instead of looking.
  rmSync(join(root, "node_modules/.package-lock.json"), { force: true })
}

const children = new Set()
const PARENT_MILLIS = 250

/** Ends the programs that an install has started when it is broken off itself; answers how to stop looking. */
const endWithMe = () => {
  const parent = process.ppid
  const end = () => {
    if (children.size === 0) process.exit(130)
    for (const child of children) {
      child.once("close", () => children.size === 0 && process.exit(130))
      child.kill("SIGTERM")
    }
  }
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"]
  for (const signal of signals) process.once(signal, end)
  // Windows leaves an orphan the number of its parent.
  const looking = setInterval(() => process.ppid !== parent && end(), PARENT_MILLIS)
  return () => {
    clearInterval(looking)
    for (const signal of signals) process.off(signal, end)
  }
}

/** Runs a program, and gives its exit code and what it said. */
const run = (cwd, command, args, options = {}) => {
  const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"], ...options })
  children.add(child)
  child.on("close", () => children.delete(child))
  let said = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk))
  return new Promise((done) => {
    child.on("error", (error) => done({ code: error.message, said }))
    child.on("close", (code) => done({ code, said }))
  })
}

const npmCi = (folder, flags) => {
  const npm = process.env.npm_execpath
  const [command, first] = npm === undefined ? ["npm", []] : [process.execPath, [npm]]
  // The lockfile names every package by its digest: what the cache of npm has is it, and no registry has to say so.
  const args = [...first, "ci", ...flags, "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"]
  // Two of them unpack at once: more threads than processors only wait for each other.
  const env = { UV_THREADPOOL_SIZE: String(Math.min(4, availableParallelism())), ...process.env }
  // Windows starts what is no program of its own only through a shell.
  return run(folder, command, args, { env, shell: process.platform === "win32" && npm === undefined })
}

const failureOf = ({ code, said }) => {
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT|ENOTCACHED|network/.test(said)) {
    return new SetupError(
      "can not reach the package registry; connect once and run this again, later runs need no network"
    )
  }
  return new SetupError(`npm ci ended with ${code}:\n${said.trim().split("\n").slice(-20).join("\n")}`)
}

/** The packages that the page is built with, and then the page, beside whatever else is done. */
const installPage = async (hasNode) => {
  const workspaces = writePageProject(hasNode)
  const installed = await npmCi(pageProject, leanFlags)
  if (installed.code !== 0) throw failureOf(installed)
  const { code, said } = await buildPage(workspaces)
  if (code !== 0) throw new SetupError(`the page can not be built: ${said.trim().slice(-1_000)}`)
}

const installPackages = async (flags) => {
  const installed = await npmCi(root, flags)
  if (installed.code !== 0) throw failureOf(installed)
}

/** Takes a folder out of the way at once. What a program that is just ending still writes there goes the next time. */
const takeAway = (folder) => {
  const attic = join(root, page, ".reverie/gone")
  mkdirSync(attic, { recursive: true })
  if (existsSync(folder)) renameSync(folder, join(attic, `${process.pid}-${readdirSync(attic).length}`))
  try {
    rmSync(attic, { recursive: true, force: true })
  } catch (error) {
    if (error.code !== "ENOTEMPTY") throw error
  }
}

const install = async (forRunning, hasNode) => {
  const began = Date.now()
  const note = (text) => process.stderr.write(text)
  note("reverie: installing packages, once (about half a minute) ...")
  const dots = setInterval(() => note("."), 2_000)
  // What a broken-off install has left would be found before what npm brings now.
  for (const folder of [pageProject, pagePackages]) takeAway(folder)
  const stopLooking = endWithMe()
  try {
    // Whichever fails, the other has come to its end before anything is said or tried again.
    const ended = await Promise.allSettled(
      forRunning
        ? [installPackages([...leanFlags, ...running.map((folder) => `--workspace=${folder}`)]), installPage(hasNode)]
        : [installPackages(["--include=dev", "--include=optional"])]
    )
    const failed = ended.find(({ status }) => status === "rejected")
    if (failed !== undefined) throw failed.reason
  } finally {
    stopLooking()
    clearInterval(dots)
    note("\n")
  }
  if (forRunning) slim()
  note(`reverie: installed in ${Math.round((Date.now() - began) / 1000)} s\n`)
}

const isNewEnough = (version) => Number(/^v?(\d+)\./.exec(version)?.[1]) >= oldestNode

/** The path of a Node >= 24: this one, the one installed beside the packages, or the one on the PATH. */
export const node24 = (places = []) => {
  if (isNewEnough(process.versions.node)) return process.execPath
  // There is one for Linux; others bring their own.
  const bundled = join(root, `node_modules/${bundledNode}/bin/node`)
  for (const candidate of [...places, bundled, "node"]) {
    const answer = spawnSync(candidate, ["--version"], { encoding: "utf8" })
    if (answer.status === 0 && isNewEnough(answer.stdout)) return candidate
  }
  throw new SetupError(
    `needs Node ${oldestNode} or newer, and this is ${process.version}; none comes with npm for ` +
      `${process.platform}-${process.arch}, install one from nodejs.org`
  )
}
