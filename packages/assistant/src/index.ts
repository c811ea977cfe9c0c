export { acceptsOf } from "./mail/accepts.ts"
export {
  type Call,
  callId,
  type CallRequest,
  type InferFailure,
  jobDone,
  jobFailed,
  type MachineEvent,
  type Signals,
  type ToolOutput,
  type OutageSeen
} from "./events.ts"
export { type Bound, flawsOf, isBounded, remaining, used, roomOfCall, windowOf } from "./budget/account.ts"
export { type Chart, type ChartEdge, type ChartNode, chartOf } from "./chart/chart.ts"
export {
  type AssistantContext,
  callOfApproval,
  mayRepair,
  type SubAgentStart,
  patternNow,
  settingsNow
} from "./context.ts"
export {
  creation,
  contextOf,
  decide,
  type Decision,
  type Decoded,
  receives,
  type Input,
  isIgnored,
  persist,
  restore,
  statusOf,
  activityOf,
  tagsOf,
  isTagged,
  modeOf
} from "./decide.ts"
export { storedContext } from "./snapshot.ts"
export * from "./errors.ts"
export {
  DEFAULT_LISTENING,
  type FilterRule,
  judgeMessage,
  type Listening,
  listeningOf,
  mayWait,
  timerOfWait,
  waitOf,
  ambienceChanges,
  ambienceOf,
  listAmbientMessages,
  overhear
} from "./mail/filter.ts"
export { restingStates } from "./chart/ignored.ts"
export {
  type ExecutionMode,
  executionModes,
  patternOf,
  restrict,
  type Restriction,
  type Assessment,
  type ContextSignals,
  type ContextLayer,
  type SourceLayers,
  patternJson,
  pressedFurther,
  samePattern,
  selectPattern,
  tokenPressureOf
} from "./patterns/select-pattern.ts"
export { type CompactionPhase, compactionPhases, type DreamOperation, dreamOperations } from "./machine/phases.ts"
export { DEFAULT_SCHEDULE, isKnownZone, nextNight, scheduleOf, type SleepSchedule } from "./patterns/schedule.ts"
export {
  changedSettings,
  DEFAULT_SETTINGS,
  holdsSettings,
  MAX_ITERATIONS,
  MAX_SUB_AGENTS,
  settingRanges,
  type Settings,
  settingsOf
} from "./settings.ts"
export { assessmentText, assessTask, readAssessment, type Task } from "./self/assess.ts"
export { decomposeGoal, decomposeText, undividable } from "./self/goals/decompose.ts"
export {
  addGoal,
  Goal,
  goalChanges,
  goalPriorities,
  type GoalPriority,
  type Goals,
  goalsOf,
  goalStatuses,
  type Moment,
  type ToldGoal,
  updateGoal
} from "./self/goals/goals.ts"
export {
  addEntry,
  CONSOLIDATED_KEY,
  episodesIn,
  type Journal,
  journalChanges,
  JournalEntry,
  journalOf,
  markConsolidated,
  reviewJournal,
  sourceTypes,
  personaRejection
} from "./self/journal.ts"
export {
  type Outcome,
  createProject,
  listProjects,
  projectChanges,
  type Projects,
  projectsOf,
  projectStatuses,
  swapProject,
  updateProject
} from "./self/projects.ts"
export {
  gathered,
  isReflectionDue,
  recordReflection,
  reflectionChanges,
  reflectionIn,
  reflectionOf,
  reflectionQuestions,
  reflectionText
} from "./self/reflection.ts"
export {
  renderPrompts,
  selfPromptChange,
  selfPromptOf,
  updateSelfPrompt,
  goalsText,
  projectText,
  sessionMemoryText,
  addSessionMemory,
  compactSessionMemory,
  memoryKinds,
  noteTask,
  sessionChanges,
  type SessionMemory,
  sessionMemoryOf
} from "./self/session-memory.ts"
export {
  callCounted,
  countersOf,
  SESSION_START_KEY,
  sessionBegun,
  systemStatus,
  SLEEP_ORDER_KEY,
  type SleepBlockers,
  sleepOrder,
  whyAwake
} from "./self/status.ts"
export { isWarned } from "./budget/spending.ts"
export { type Activity, activities, type Mode, modes } from "./state-tag.ts"
export { accountOf, depthLeft } from "./sub-agents/admission.ts"
export {
  type Assignment,
  type DelegateRequest,
  type DelegationRefusal,
  grantKey,
  isOpen,
  type SubAgent
} from "./sub-agents/sub-agent.ts"
export { dynamic, type Selector, selectors } from "./team/dynamic.ts"
export {
  coordinate,
  NEW_TEAM,
  nextDue,
  type Surroundings,
  type TeamEvent,
  type TeamSend,
  type TeamState,
  type TeamStep
} from "./team/coordinate.ts"
export {
  type Directory,
  reach,
  type Reached,
  type Seat,
  type TeamRole,
  teamRoles,
  mayWriteAt,
  type PairRate,
  pairRateOf,
  rateRefusal,
  timesOf,
  written
} from "./team/directory.ts"
export { pipeline, type Stage, roundRobin } from "./team/pipeline.ts"
export { sleepTime, type SleepTimeOptions, type WatchTrigger } from "./team/sleep-time.ts"
export { supervisor, type SupervisorOptions } from "./team/supervisor.ts"
export type { Answer, Ask, Candidate, Move, Pattern, Question, Standing, Table, Team, TeamMember } from "./team/team.ts"
export { tieBreakers, voting, type VotingOptions } from "./team/voting.ts"
export { type Outage } from "./context.ts"
