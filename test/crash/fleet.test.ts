import { assert, describe, it } from "@effect/vitest"
import { placeOf, type ServerName } from "@reverie/testkit/servers"
import { type FleetLaneOptions, runFleetLane } from "./fleet.ts"
import { faultless } from "./fleet-judge.ts"

const missing = (["redis", "postgres"] satisfies ReadonlyArray<ServerName>).filter(
  (server) => placeOf(server, { own: true }).origin === undefined
)
const need = missing.map((server) => ` [own ${server}]`).join("")
if (need !== "") console.warn(`skipped without${need}: the crash lane of a fleet kills servers of its own`)

const short: FleetLaneOptions = {
  kills: 8,
  // Enough at once that a fault finds several of them at work, however quick the machine.
  events: 1_600,
  assistants: 160,
  workers: 4,
  seed: 5,
  patienceMillis: 90_000,
  progress: () => {}
}

describe.skipIf(missing.length > 0)(`crash lane of a fleet${need}`, { timeout: 300_000 }, () => {
  it("J1-J4 eight faults of processes, servers and networks lose, double and reorder nothing", async () => {
    const report = await runFleetLane(short)
    assert.deepInclude(report, Object.fromEntries(faultless.map((name) => [name, 0])))
    // How long it took belongs to the lane itself: here others may use the machine.
    assert.deepStrictEqual(
      report.complaints.filter((complaint) => !complaint.startsWith("recovery p99")),
      []
    )
  })

  it("L3 a fleet that loses wake-ups and does not sweep is found guilty", async () => {
    const report = await runFleetLane({
      ...short,
      kills: 1,
      events: 48,
      assistants: 24,
      plant: "sweepless",
      patienceMillis: 8_000
    })
    assert.isFalse(report.ok)
    assert.isAbove(report.lost, 0)
  })
})
