import { allowanceLaws, allowanceMutants, memoryAllowanceLayer } from "@reverie/testkit"
import { bite, prove } from "@reverie/testkit/prove"

prove("memory allowance: allowance laws", allowanceLaws, () => memoryAllowanceLayer())
bite("allowance laws bite", allowanceLaws, allowanceMutants)
