import { memoryRecallLayer, recallLaws, recallMutants } from "@reverie/testkit"
import { bite, prove } from "@reverie/testkit/prove"

prove("memory recall: recall laws", recallLaws, () => memoryRecallLayer())
bite("recall laws bite", recallLaws, recallMutants)
