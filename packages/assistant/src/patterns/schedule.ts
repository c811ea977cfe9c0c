// Schedule: the hours in which an assistant sleeps.
// Owns when the next night begins and how long the present one lasts. Leaves sending to bed to the runtime.
// H1  A night begins at its hour on the clocks of its time zone, whatever these do with summer time, and lasts its hours
//     as they pass.
// H2  The next night begins after the moment asked about; a night that lies around that moment is the present one.
// H3  A setting outside its range is brought into it, and a time zone that no one knows is UTC: a stored schedule always
//     works. What a user writes is refused where it is written.

export interface SleepSchedule {
  readonly enabled: boolean
  /** 0 to 23, on the clocks of the time zone. */
  readonly sleepStartHour: number
  /** More than 0, at most 23. */
  readonly sleepDurationHours: number
  /** Pause between two steps of a dream, in seconds; 0 for none. */
  readonly tickRateSleepSeconds: number
  /** A name of the IANA database, as `Europe/Berlin`. */
  readonly timeZone: string
}

export const DEFAULT_SCHEDULE: SleepSchedule = {
  enabled: false,
  sleepStartHour: 2,
  sleepDurationHours: 4,
  tickRateSleepSeconds: 60,
  timeZone: "UTC"
}

/** Both ends in milliseconds since the epoch. */
export interface Night {
  readonly start: number
  readonly end: number
}

const HOUR_MILLIS = 3_600_000
const DAY_MILLIS = 24 * HOUR_MILLIS

const clocks = new Map<string, Intl.DateTimeFormat>()

const clockOf = (timeZone: string): Intl.DateTimeFormat => {
  const known = clocks.get(timeZone)
  if (known !== undefined) return known
  const clock = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric"
  })
  clocks.set(timeZone, clock)
  return clock
}

/** Whether it names a time zone. */
export const isKnownZone = (timeZone: string): boolean => {
  try {
    clockOf(timeZone)
    return true
  } catch {
    // RangeError is how Intl says that it does not know the name.
    return false
  }
}

const within = (value: number, minimum: number, maximum: number): number =>
  Number.isNaN(value) ? minimum : Math.min(maximum, Math.max(minimum, value))

/** Fills in defaults and brings every number into its range. */
export const scheduleOf = (chosen: Partial<SleepSchedule>): SleepSchedule => {
  const all = { ...DEFAULT_SCHEDULE, ...chosen }
  return {
    enabled: all.enabled,
    sleepStartHour: Math.floor(within(all.sleepStartHour, 0, 23)),
    sleepDurationHours: within(all.sleepDurationHours, 1 / 60, 23),
    tickRateSleepSeconds: within(all.tickRateSleepSeconds, 0, 3_600),
    timeZone: isKnownZone(all.timeZone) ? all.timeZone : DEFAULT_SCHEDULE.timeZone
  }
}

/** What the clocks of a zone show, as if it were a time of UTC. */
export const shownAt = (at: number, timeZone: string): number => {
  const parts = new Map(
    clockOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)])
  )
  const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0
  return Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"))
}

/** When the clocks of the zone show this. Of an hour that is left out: as much later as was left out. */
const whenShown = (shown: number, timeZone: string): number => {
  const offsetAt = (at: number): number => shownAt(at, timeZone) - Math.floor(at / 1_000) * 1_000
  const guess = shown - offsetAt(shown)
  const better = shown - offsetAt(guess)
  return shownAt(better, timeZone) === shown ? better : Math.max(guess, better)
}

/** The nights that begin on the day before, on the day, and on the two days after it, in their order. */
const nightsAround = ({ sleepDurationHours, sleepStartHour, timeZone }: SleepSchedule, now: number) => {
  const midnight = Math.floor(shownAt(now, timeZone) / DAY_MILLIS) * DAY_MILLIS
  return [-1, 0, 1, 2].map((day): Night => {
    const start = whenShown(midnight + day * DAY_MILLIS + sleepStartHour * HOUR_MILLIS, timeZone)
    return { start, end: start + Math.round(sleepDurationHours * HOUR_MILLIS) }
  })
}

/** The first night that begins after now; undefined when the schedule is off. */
export const nextNight = (schedule: SleepSchedule, now: number): Night | undefined =>
  schedule.enabled ? nightsAround(schedule, now).find(({ start }) => start > now) : undefined

/** The night that now lies in. */
export const presentNight = (schedule: SleepSchedule, now: number): Night | undefined =>
  schedule.enabled ? nightsAround(schedule, now).find(({ end, start }) => start <= now && now < end) : undefined
