import { memoryHousesLayer, removalLaws, removalMutants } from "@reverie/testkit"
import { bite, prove } from "@reverie/testkit/prove"

prove("memory house: removal laws", removalLaws, memoryHousesLayer)
bite("removal laws bite", removalLaws, removalMutants)
