import { modelLaws, modelMutants, rightModel } from "@reverie/testkit"
import { bite, prove } from "@reverie/testkit/prove"

prove("a model without a wire: model laws", modelLaws, rightModel)
bite("model laws bite", modelLaws, modelMutants)
