import { memoryHousesLayer, bundleLaws, bundleMutants } from "@reverie/testkit"
import { bite, prove } from "@reverie/testkit/prove"

prove("memory house: bundle laws", bundleLaws, memoryHousesLayer)
bite("bundle laws bite", bundleLaws, bundleMutants)
