// BackupTarget: what stands where a backup, or the data of one, is to be.
// Owns judging whether it may be replaced, and replacing it. Leaves what is put there to backup.ts.
// T1  A backup replaces another backup that holds nothing else, or an empty directory. All else stays, whatever was asked for.
// T2  It is never the data directory, around it or within it, by whatever path each is reached.
// T3  The former backup goes only when the new one is in its place. What breaks off between two leaves either of them.

import { existsSync, readdirSync, renameSync, rmdirSync, rmSync, statSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { CONTENTS, contentsIn, foreignIn, refuse } from "./backup-contents.ts"
import { realPath } from "./shared-place.ts"

/** Where a backup is made before it has its name. */
export const partialOf = (target: string): string => join(dirname(target), `.${basename(target)}.partial`)

/** Where the backup of before waits for the new one. */
export const formerOf = (target: string): string => `${partialOf(target)}.former`

const identityOf = (path: string): string | undefined => {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? undefined : `${found.dev}:${found.ino}`
}

/** Whether a path is that directory, or below it. Names can deceive where a disk is mounted twice or takes no heed of case. */
const isIn = (path: string, directory: string): boolean => {
  const sought = identityOf(directory)
  if (sought === undefined) return false
  for (let each = realPath(path); ; each = dirname(each)) {
    if (identityOf(each) === sought) return true
    if (dirname(each) === each) return false
  }
}

const ELSEWHERE = "name another directory"

const assertApart = (directory: string, target: string): void => {
  const [isAround, isWithin] = [isIn(directory, target), isIn(target, directory)]
  if (isAround && isWithin) refuse(target, `it is the data directory itself; ${ELSEWHERE}`)
  if (isAround) refuse(target, `the data directory ${directory} lies in it; ${ELSEWHERE}`)
  if (isWithin) refuse(target, `it lies in the data directory ${directory}; name a directory outside of it`)
}

const assertReplaceable = (target: string, force: boolean): void => {
  const found = statSync(target, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isDirectory()) refuse(target, `it is no directory; ${ELSEWHERE}`)
  const [first] = readdirSync(target)
  if (first === undefined) return
  const contents = contentsIn(target)
  if (contents === undefined) {
    return refuse(
      target,
      `it holds other things (${first}) and no readable ${CONTENTS}, so it is no backup; ${ELSEWHERE}`
    )
  }
  const foreign = foreignIn(target, contents)
  if (foreign !== undefined) refuse(target, `it holds more than a backup: ${foreign}; move that away, or ${ELSEWHERE}`)
  if (!force) refuse(target, `there is a backup already; ${ELSEWHERE}, or say --force to replace it`)
}

/** The directory that a backup is to become, as the disk knows it. Throws BackupRefused where it may not. */
export const targetOf = (directory: string, to: string, force: boolean): string => {
  if (to === "") refuse(directory, "no directory is named for its backup")
  const target = realPath(to)
  assertApart(directory, target)
  // A process that ended between the two steps of `swap` has left the backup of before there.
  if (!existsSync(target) && existsSync(formerOf(target))) renameSync(formerOf(target), target)
  assertReplaceable(target, force)
  return target
}

/** Gives a whole backup its name. The one of before is beside it afterwards. */
export const swap = (folder: string, target: string): void => {
  // Making it took its time, in which others may have put something there.
  assertReplaceable(target, true)
  const former = formerOf(target)
  if (existsSync(target)) {
    rmSync(former, { recursive: true, force: true })
    if (readdirSync(target).length === 0) rmdirSync(target)
    else renameSync(target, former)
  }
  try {
    renameSync(folder, target)
  } catch (error) {
    if (existsSync(former)) renameSync(former, target)
    throw error
  }
}

/** Data is put back into no backup: neither into the one it comes from, nor over another. */
export const assertNoBackup = (source: string, directory: string): void => {
  if (isIn(source, directory) && isIn(directory, source)) {
    refuse(directory, "it is the backup itself; name another data directory")
  }
  const contents = contentsIn(directory)
  if (contents !== undefined && foreignIn(directory, contents) === undefined) {
    refuse(directory, "it is a backup, which would be none any more; name another data directory")
  }
}
