// Forms: the schemas of facts and profiles, for those who load nothing else of this room.

export { Fact } from "./fact.ts"
export { EntityProfile } from "./profiles/profile.ts"
