// Lane: runs attacks, and the planted faults that have to be found.
// L1  One attack, one scene: what one leaves behind cannot help or hurt the next. A short run has several under way at once,
//     for most of them wait for most of their time.
// L2  A planted fault counts as found only when its attack fails with it and was carried through.

import { type Attack, brokenVerdict, type Plant, type Verdict, verdictOf } from "./attack.ts"
import { Scene } from "./scene.ts"

export interface PlantVerdict {
  readonly plant: string
  readonly attack: string
  readonly found: boolean
  readonly problems: ReadonlyArray<string>
}

export interface LaneReport {
  readonly ok: boolean
  readonly attacks: ReadonlyArray<Verdict>
  readonly skipped: ReadonlyArray<{ readonly name: string; readonly wants: string }>
  readonly plants: ReadonlyArray<PlantVerdict>
  readonly acknowledged: number
  readonly lost: number
  readonly duplicated: number
  readonly innocents: number
}

export interface LaneOptions {
  readonly attacks: ReadonlyArray<Attack>
  readonly plants: ReadonlyArray<Plant>
  readonly isShort: boolean
  readonly progress: (line: string) => void
}

const attackOnce = async (attack: Attack, isShort: boolean, plant?: string): Promise<Verdict> => {
  const begun = performance.now()
  const seconds = () => Math.round((performance.now() - begun) / 100) / 10
  const scene = await Scene.open(plant)
  try {
    return verdictOf(attack, await attack.run(scene, { isShort }), seconds())
  } catch (error) {
    return brokenVerdict(attack, error, seconds())
  } finally {
    await scene.close()
  }
}

/** Of a short run; those that are timed are alone. */
const AT_ONCE = 3

/** Results in the order of the list, at most `width` under way. */
const inPool = async <A, B>(list: ReadonlyArray<A>, width: number, run: (each: A) => Promise<B>) => {
  const results: Array<B> = []
  let next = 0
  const worker = async () => {
    for (let at = next++; at < list.length; at = next++) results[at] = await run(list[at] as A)
  }
  await Promise.all(Array.from({ length: width }, worker))
  return results
}

const total = (
  verdicts: ReadonlyArray<Verdict>,
  figure: "acknowledged" | "lost" | "duplicated" | "innocents"
): number => verdicts.reduce((sum, verdict) => sum + verdict[figure], 0)

const isBroken = ({ problems }: Verdict): boolean => problems.some((problem) => problem.startsWith("it broke off"))

export const runLane = async ({ attacks, isShort, plants, progress }: LaneOptions): Promise<LaneReport> => {
  const skipped: Array<{ readonly name: string; readonly wants: string }> = []
  const runnable = attacks.filter((attack) => {
    const wants = attack.wants?.()
    if (wants === undefined) return true
    skipped.push({ name: attack.name, wants })
    progress(`${attack.name}: skipped, it wants ${wants}`)
    return false
  })
  const run = async (attack: Attack): Promise<Verdict> => {
    const verdict = await attackOnce(attack, isShort)
    progress(`${attack.name}: ${verdict.ok ? "held" : `FAILED: ${verdict.problems.join("; ")}`} (${verdict.seconds} s)`)
    return verdict
  }
  const { alone = [], beside = [] } = Object.groupBy(runnable, ({ isTimed = false }) =>
    isTimed || !isShort ? "alone" : "beside"
  )
  const verdicts = [...(await inPool(alone, 1, run)), ...(await inPool(beside, AT_ONCE, run))]
  const found: Array<PlantVerdict> = []
  for (const { attack: name, module, name: plant } of plants) {
    const attack = attacks.find((each) => each.name === name)
    if (attack === undefined || skipped.some((each) => each.name === name)) continue
    const verdict = await attackOnce(attack, isShort, module)
    const isFound = !verdict.ok && !isBroken(verdict)
    found.push({ plant, attack: name, found: isFound, problems: verdict.problems })
    progress(
      `planted ${plant}: ${isFound ? `found: ${verdict.problems[0]}` : `NOT FOUND: ${verdict.problems.join("; ")}`}`
    )
  }
  return {
    ok: verdicts.length > 0 && verdicts.every(({ ok }) => ok) && found.every((each) => each.found),
    attacks: verdicts,
    skipped,
    plants: found,
    acknowledged: total(verdicts, "acknowledged"),
    lost: total(verdicts, "lost"),
    duplicated: total(verdicts, "duplicated"),
    innocents: total(verdicts, "innocents")
  }
}
