export {
  type Delivery,
  deliveriesOf,
  type FindEnvelope,
  type DriveEnd,
  type Driven,
  driveTick,
  type Driving,
  untilTurn
} from "./drive.ts"
export { HeldClock } from "./held-clock.ts"
export { type Asking, noting, recordedModel, replyOf, type Shown, steppedModel } from "./recorded-model.ts"
export { type RecordedAsk, type RecordedRun, type RecordedTick, readTick, resultOf } from "./recorded-tick.ts"
export { type AnsweredBy, NOT_RECORDED, type ToolAnswers, toolAnswers, type ToolStub } from "./tool-answers.ts"
export { ledgerOfThen, recallOfThen, withConversations } from "./then.ts"
